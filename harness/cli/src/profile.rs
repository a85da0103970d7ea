//! `assay.toml`: options that a project or a laboratory gives to commands each time, and profiles
//! of them.
//!
//! ```toml
//! [run]                     # options of `assay run`, by their long names
//! device = "lavapipe"
//! via = ["ssh board7", "ssh board8"]     # given twice
//!
//! [profile.nightly.run]     # with --profile nightly, in place of those above
//! budget = "sampled"
//! max-fail = 20
//! quiet = true              # an option without a value
//! ```
//!
//! The options are put into the command line before it is parsed, so that they are checked as typed
//! ones are. A typed option takes the place of the one in the file, and of those with which it
//! conflicts.

use crate::{
    args::Cli,
    exit::{Failure, usage},
};
use assay_files::input;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::{ffi::OsString, io, path::Path};
use toml::{Table, Value};

/// Name of the file, which is looked for in the current folder.
const FILE: &str = "assay.toml";

/// Largest size of the file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Table of the profiles.
const PROFILES: &str = "profile";

/// Option and variable that choose a profile.
const PROFILE_OPTION: &str = "--profile";
const PROFILE_VARIABLE: &str = "ASSAY_PROFILE";

/// Commands without options in the file: those of workers, which get theirs from a run.
const WITHOUT: [&str; 1] = ["worker"];

/// Options that repeat an earlier run with its own options.
const REPEATING: [&str; 2] = ["resume", "rerun-failed"];

/// Returns the command line with the options of `assay.toml` in the current folder.
///
/// # Errors
/// The file cannot be read, is not TOML, or names a command, an option or a type of value that does
/// not exist; there is no such profile.
pub(crate) fn with_profile(arguments: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let variable = std::env::var(PROFILE_VARIABLE).ok().filter(|name| !name.is_empty());
    let text = match input::read_text(Path::new(FILE), MAX_BYTES) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(usage(format!("{FILE}: {error}"))),
    };
    expanded(arguments, text.as_deref(), variable).map_err(|what| usage(format!("{FILE}: {what}")))
}

/// Puts the options of a file into a command line.
fn expanded(
    mut arguments: Vec<OsString>,
    text: Option<&str>,
    variable: Option<String>,
) -> Result<Vec<OsString>, String> {
    let profile = take_profile(&mut arguments)?.or(variable);
    let mut command = Cli::command();
    command.build();
    let is_command = |argument: &OsString| argument.to_str().and_then(|name| command.find_subcommand(name)).is_some();
    let at = arguments.iter().skip(1).position(is_command).map(|position| position + 1);
    let Some(text) = text else {
        return match profile {
            Some(name) => Err(format!("there is no such file in this folder, and so no profile `{name}`")),
            None => Ok(arguments),
        };
    };
    let file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    let tables = match &profile {
        None => vec![(String::new(), &file)],
        Some(name) => {
            let profiles = file.get(PROFILES).and_then(Value::as_table);
            let found = profiles.and_then(|profiles| profiles.get(name)).and_then(Value::as_table);
            let found = found.ok_or_else(|| format!("there is no profile [{PROFILES}.{name}.COMMAND]"))?;
            vec![(format!("{PROFILES}.{name}."), found), (String::new(), &file)]
        }
    };
    for (prefix, table) in &tables {
        let known = |name: &str| !WITHOUT.contains(&name) && command.find_subcommand(name).is_some();
        let is_known = |name: &str| known(name) || prefix.is_empty() && name == PROFILES;
        if let Some(name) = table.keys().find(|name| !is_known(name)) {
            return Err(format!("[{prefix}{name}]: there is no command `assay {name}`"));
        }
    }
    let Some((at, command)) = at.and_then(|at| Some((at, command.find_subcommand(arguments[at].to_str()?)?))) else {
        return Ok(arguments);
    };
    let is_typed = |option: &Arg| is_typed(&arguments[at..], option);
    if command
        .get_arguments()
        .any(|option| REPEATING.contains(&option.get_long().unwrap_or_default()) && is_typed(option))
    {
        return Ok(arguments);
    }
    let (mut added, mut known): (Vec<OsString>, Vec<&str>) = (Vec::new(), Vec::new());
    for (prefix, table) in tables {
        let place = format!("[{prefix}{}]", command.get_name());
        let options = match table.get(command.get_name()) {
            Some(Value::Table(options)) => options,
            Some(_) => return Err(format!("{place}: expected a table of options")),
            None => continue,
        };
        for (key, value) in options {
            let option = command.get_arguments().find(|option| option.get_long() == Some(key));
            let option =
                option.ok_or_else(|| format!("{place}: `assay {}` has no option `--{key}`", command.get_name()))?;
            let values = values(option, value).map_err(|what| format!("{place}: {key}: {what}"))?;
            let is_excluded = conflicts(command, option, &is_typed);
            if is_typed(option) || is_excluded || known.contains(&key.as_str()) {
                continue;
            }
            known.push(key);
            added.extend(values.into_iter().map(OsString::from));
        }
    }
    arguments.splice(at + 1..at + 1, added);
    Ok(arguments)
}

/// Returns whether a typed option excludes another. clap states a conflict on one of the two only.
fn conflicts(command: &Command, option: &Arg, is_typed: &dyn Fn(&Arg) -> bool) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
    };
    let mut typed = command.get_arguments().filter(|other| is_typed(other));
    typed.any(|other| excludes(option, other) || excludes(other, option))
}

/// Returns whether an option is typed: `--long`, `--long=VALUE`, or `-s`.
fn is_typed(arguments: &[OsString], option: &Arg) -> bool {
    let before_operands = arguments.iter().take_while(|argument| *argument != "--");
    let mut options = before_operands.filter_map(|argument| argument.to_str()?.strip_prefix('-'));
    options.any(|typed| match typed.strip_prefix('-') {
        Some(long) => long.split('=').next() == option.get_long(),
        None => option.get_short().is_some_and(|short| typed.starts_with(short)),
    })
}

/// Removes `--profile NAME` or `--profile=NAME` from a command line, and returns the name.
fn take_profile(arguments: &mut Vec<OsString>) -> Result<Option<String>, String> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let is_profile =
        |argument: &OsString| argument.to_str().is_some_and(|text| text.split('=').next() == Some(PROFILE_OPTION));
    let Some(at) = arguments[..end].iter().position(is_profile) else { return Ok(None) };
    let given = arguments.remove(at).to_string_lossy().into_owned();
    let name = match given.split_once('=') {
        Some((_, name)) => name.to_owned(),
        None if at < end - 1 => arguments.remove(at).to_string_lossy().into_owned(),
        None => return Err(format!("{PROFILE_OPTION} needs the name of a profile")),
    };
    Ok(Some(name))
}

/// Returns the arguments for a value of an option.
///
/// # Errors
/// The option takes no such value.
fn values(option: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let long = option.get_long().unwrap_or_default();
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    Ok(match value {
        Value::Boolean(is_set) if !takes_value => {
            if *is_set {
                vec![format!("--{long}")]
            } else {
                Vec::new()
            }
        }
        _ if !takes_value => return Err("expected true or false".to_owned()),
        Value::Array(all) => {
            let each = all.iter().map(|value| match value {
                Value::Array(_) => Err("expected a list of values".to_owned()),
                one => values(option, one),
            });
            each.collect::<Result<Vec<_>, _>>()?.concat()
        }
        Value::String(text) => vec![format!("--{long}={text}")],
        Value::Integer(number) => vec![format!("--{long}={number}")],
        Value::Float(number) => vec![format!("--{long}={number}")],
        _ => return Err("expected a text, a number, or a list of them".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[run]\ndevice = \"lavapipe\"\ndefine = [\"A=1\", \"B\"]\n[list]\nbudget = \"quick\"\n\
                        [profile.nightly.run]\ndevice = \"all\"\nmax-fail = 20\nquiet = true\n";

    fn line(typed: &str, text: Option<&str>, variable: Option<&str>) -> Result<String, String> {
        let arguments = typed.split_whitespace().map(OsString::from).collect();
        let expanded = expanded(arguments, text, variable.map(str::to_owned))?;
        Ok(expanded.iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_of_the_file_stand_after_the_command() {
        let with = |typed: &str| line(typed, Some(TEXT), None).unwrap();
        assert_eq!(with("assay run --seed 1"), "assay run --define=A=1 --define=B --device=lavapipe --seed 1");
        assert_eq!(
            with("assay --color never run add"),
            "assay --color never run --define=A=1 --define=B --device=lavapipe add"
        );
        assert_eq!(with("assay run --device=x --define C"), "assay run --device=x --define C");
        assert_eq!(with("assay run --resume out"), "assay run --resume out");
        // -q excludes -v, whichever of the two is in the file.
        let excluded = line("assay run -q", Some("[run]\nverbose = true"), None).unwrap();
        assert_eq!(excluded, "assay run -q");
        for unchanged in ["assay devices", "assay", "assay --help", "assay worker", "assay nothing"] {
            assert_eq!(with(unchanged), unchanged);
        }
    }

    #[test]
    fn a_profile_goes_before_the_usual_options() {
        let nightly = "assay run --device=all --max-fail=20 --quiet --define=A=1 --define=B";
        for typed in ["assay run --profile nightly", "assay --profile=nightly run"] {
            assert_eq!(line(typed, Some(TEXT), None).unwrap(), nightly);
        }
        assert_eq!(line("assay run", Some(TEXT), Some("nightly")).unwrap(), nightly);
        assert_eq!(line("assay devices --profile nightly", Some(TEXT), None).unwrap(), "assay devices");
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let refused = |typed: &str, text: &str| line(typed, Some(text), None).unwrap_err();
        for (text, what) in [
            ("[run]\nsped = 1", "[run]: `assay run` has no option `--sped`"),
            ("[runs]", "[runs]: there is no command `assay runs`"),
            ("[worker]", "[worker]: there is no command `assay worker`"),
            ("[profile.a.profile.b]", "[profile.a.profile]: there is no command"),
            ("run = 1", "[run]: expected a table of options"),
            ("[run]\nquiet = 1", "[run]: quiet: expected true or false"),
            ("[run]\ndefine = [[\"A\"]]", "[run]: define: expected a list of values"),
            ("[run]\nseed = 2026-11-27", "[run]: seed: expected a text, a number, or a list"),
            ("[run", "TOML parse error"),
        ] {
            let typed = if text.contains("profile") { "assay run --profile a" } else { "assay run" };
            assert!(refused(typed, text).contains(what), "{text}: {}", refused(typed, text));
        }
        assert!(refused("assay run --profile", TEXT).contains("needs the name"));
        assert!(refused("assay run --profile weekly", TEXT).contains("no profile [profile.weekly.COMMAND]"));
        assert!(line("assay run --profile a", None, None).unwrap_err().contains("no such file"));
    }
}
