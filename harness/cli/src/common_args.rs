//! Arguments of several commands, and parsers of their values.

use crate::exit::{self, Failure, WithCode};
use crate::prefix::{Prefix, prefix_words};
use crate::push_binary::push_binary;
use assay_check::CompileOptions;
use assay_isolate::Launch;
use assay_spirv::TargetEnv;
use clap::Args;
use serde_json::Value;
use std::{ffi::OsString, ops::RangeInclusive, path::PathBuf};

/// Options of worker processes on other machines.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViaArgs {
    /// Start workers through this command prefix, on another machine; repeatable
    ///
    /// Examples: 'ssh board7', 'srun --gres=gpu:1 -n1', 'kubectl exec -i pod --', 'adb shell'. The
    /// prefix starts `assay worker` of the same version there. Several prefixes make a pool, whose
    /// machines must have the same device and driver. A lost link costs no result: its cases run
    /// again, and no device is blamed.
    #[arg(long, value_name = "PREFIX", value_parser = prefix_words)]
    pub(crate) via: Vec<Prefix>,

    /// Path of the binary where --via starts it
    #[arg(long, value_name = "PATH", default_value = "assay", requires = "via")]
    pub(crate) via_binary: PathBuf,

    /// Copy this binary of Assay to the path of --via-binary on each machine first, unless it is
    /// there; it must be built for these machines
    #[arg(long, value_name = "FILE", requires = "via_binary")]
    pub(crate) push_binary: Option<PathBuf>,

    /// Machine that checks the results with --via: there or here [default: there]
    ///
    /// With `here`, the other machine runs the shaders alone: it receives their inputs and sends all
    /// their outputs, up to 8 bytes a scalar. This suits a machine with a slow processor.
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "there",
        requires = "via",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) check: CheckPlace,
}

impl ViaArgs {
    /// Refuses the prefixes of a command that starts no workers.
    pub(crate) fn must_suit(&self, isolate: Isolate) -> Result<(), Failure> {
        if isolate == Isolate::No && !self.via.is_empty() {
            return Err(exit::usage("--via starts worker processes, so it excludes --isolate no"));
        }
        Ok(())
    }

    /// Copies the binary of `--push-binary` to the other machines.
    ///
    /// # Errors
    /// As [`push_binary`].
    pub(crate) fn push(&self) -> Result<(), Failure> {
        match &self.push_binary {
            Some(binary) => push_binary(binary, &self.via_binary, &self.via),
            None => Ok(()),
        }
    }

    /// Returns the command that starts workers with this setup and these variables: this binary, or
    /// another one through the prefixes, whose results workers of this machine check if they are asked to.
    ///
    /// # Errors
    /// The path of this binary is not known.
    pub(crate) fn launch(&self, environment: Vec<(OsString, OsString)>, setup: Value) -> Result<Launch, Failure> {
        let via: Vec<Vec<OsString>> = self.via.iter().map(|prefix| prefix.0.clone()).collect();
        let elsewhere = !via.is_empty();
        let own = std::env::current_exe().code(exit::INTERNAL)?;
        let check_here = match self.check {
            CheckPlace::Here => vec![own.clone().into(), "worker".into(), "--".into()],
            CheckPlace::There => Vec::new(),
        };
        let program = if elsewhere { self.via_binary.clone() } else { own };
        let arguments = if elsewhere { vec!["worker".into(), "--supervised".into()] } else { vec!["worker".into()] };
        Ok(Launch { via, check_here, program, arguments, environment, setup })
    }
}

/// Options of the compilation of a shader.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompileArgs {
    /// Target environment of SPIR-V text, GLSL, HLSL and Slang, which decides the version of
    /// SPIR-V: spv1.0 to spv1.6, vulkan1.0 to vulkan1.4
    ///
    /// [default: for SPIR-V text the `; Version:` comment at its start, else spv1.6 or, if the
    /// module breaks fewer rules in others, the lowest version in which it breaks the fewest; for
    /// the other languages vulkan1.1]
    #[arg(long, value_name = "ENV")]
    pub(crate) target_env: Option<TargetEnv>,

    /// Macro for GLSL, HLSL and Slang, and for #ifdef in WGSL; repeatable
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// Folder of files that WGSL, GLSL, HLSL or Slang includes; repeatable
    #[arg(long, value_name = "DIR")]
    pub(crate) include: Vec<PathBuf>,
}

impl CompileArgs {
    /// Returns the options of the compiler.
    pub(crate) fn options(&self) -> CompileOptions {
        CompileOptions {
            target_env: self.target_env,
            defines: self.define.clone(),
            includes: self.include.clone(),
            ..CompileOptions::default()
        }
    }
}

/// API that a run or a check goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Api {
    /// Vulkan itself.
    Vulkan,
    /// wgpu, over Vulkan.
    Wgpu,
    /// Vulkan, then wgpu.
    Both,
}

impl Api {
    /// Returns the single APIs, in order.
    pub(crate) fn each(self) -> &'static [Api] {
        match self {
            Api::Vulkan => &[Api::Vulkan],
            Api::Wgpu => &[Api::Wgpu],
            Api::Both => &[Api::Vulkan, Api::Wgpu],
        }
    }

    /// Returns the value's name: `vulkan`, `wgpu` or `both`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::Vulkan => "vulkan",
            Api::Wgpu => "wgpu",
            Api::Both => "both",
        }
    }
}

/// Choice of worker processes or the coordinator's own process for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Isolate {
    Yes,
    No,
}

/// Machine that checks the results of a device elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckPlace {
    Here,
    There,
}

impl CheckPlace {
    /// Returns the value's name: `here` or `there`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CheckPlace::Here => "here",
            CheckPlace::There => "there",
        }
    }
}

/// Choice of rerunning failures alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Confirm {
    Yes,
    No,
}

impl Confirm {
    pub(crate) fn is_yes(self) -> bool {
        self == Confirm::Yes
    }
}

/// Returns a parser of whole numbers in a range. Its message names the range, or its start where
/// the end is only that of the type.
pub(crate) fn whole_number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match range.end() {
            &u64::MAX => format!("expected a whole number of at least {}", range.start()),
            end => format!("expected a whole number from {} to {end}", range.start()),
        })
    }
}

pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("expected a number of seconds above 0 and at most 1e9".to_owned()),
    }
}
