//! The cases of `tests/rules/*.spvasm`, in the format that `tests/it/rules.rs` describes.

/// A legal and an illegal module for a rule.
pub(crate) struct Case {
    pub(crate) rule: String,
    pub(crate) line: usize,
    pub(crate) also: Vec<String>,
    pub(crate) vulkan: bool,
    version: Option<String>,
    broken_version: Option<String>,
    /// Lines with their mark: `?`, `=` or a blank.
    lines: Vec<(char, String)>,
}

/// The shader that lines are added to, without its entry point.
const BASE: &str = include_str!("../../rules/base.spvasm");

/// Returns the cases of all files.
pub(crate) fn cases() -> Vec<Case> {
    let files = [
        include_str!("../../rules/declarations.spvasm"),
        include_str!("../../rules/barriers.spvasm"),
        include_str!("../../rules/variables.spvasm"),
        include_str!("../../rules/decorations.spvasm"),
        include_str!("../../rules/images.spvasm"),
        include_str!("../../rules/memory.spvasm"),
        include_str!("../../rules/operands.spvasm"),
        include_str!("../../rules/control_flow.spvasm"),
        include_str!("../../rules/structure.spvasm"),
        include_str!("../../rules/extensions.spvasm"),
    ];
    files.iter().flat_map(|text| read(text)).collect()
}

/// Parses the cases of a file.
pub(crate) fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if let Some(rule) = line.strip_prefix(";; rule: ") {
            let (rule, line) = (rule.trim().to_owned(), i + 1);
            cases.push(Case {
                rule,
                line,
                also: Vec::new(),
                vulkan: true,
                version: None,
                broken_version: None,
                lines: Vec::new(),
            });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(also) = line.strip_prefix(";; also: ") {
            case.also.push(also.trim().to_owned());
        } else if let Some(version) = line.strip_prefix(";; version: ") {
            case.version = Some(version.trim().to_owned());
        } else if let Some(version) = line.strip_prefix(";; broken version: ") {
            case.broken_version = Some(version.trim().to_owned());
        } else if line.trim() == ";; environment: other" {
            case.vulkan = false;
        } else if let Some(only) = line.strip_prefix(['?', '=']) {
            case.lines.push((line.chars().next().unwrap_or(' '), only.trim().to_owned()));
        } else if !line.trim().is_empty() && !line.starts_with(';') {
            case.lines.push((' ', line.trim().to_owned()));
        }
    }
    cases
}

const SECTIONS: usize = 13;
const GLOBALS: usize = 10;
const BODY: usize = 11;
const FUNCTIONS: usize = 12;

/// Returns the section of a line, in the order of a module; whole functions come last.
fn section(line: &str) -> usize {
    let op = line.split_whitespace().find(|word| word.starts_with("Op")).unwrap_or_default();
    match op {
        "OpCapability" => 0,
        "OpExtension" => 1,
        "OpExtInstImport" => 2,
        "OpMemoryModel" => 3,
        "OpEntryPoint" => 4,
        "OpExecutionMode" | "OpExecutionModeId" => 5,
        "OpName" | "OpMemberName" => 7,
        "OpVariable" if line.contains(" Function") => BODY,
        "OpVariable" | "OpUndef" | "OpUntypedVariableKHR" => GLOBALS,
        _ if op.contains("Decorat") => 9,
        _ if op.starts_with("OpType") || op.starts_with("OpConstant") || op.starts_with("OpSpecConstant") => GLOBALS,
        _ => BODY,
    }
}

impl Case {
    /// Returns the text of the illegal or the legal module.
    pub(crate) fn text(&self, broken: bool) -> String {
        let left_out = if broken { '=' } else { '?' };
        let own: Vec<&str> =
            self.lines.iter().filter(|(mark, _)| *mark != left_out).map(|(_, line)| line.as_str()).collect();
        let mut sections: Vec<Vec<String>> = vec![Vec::new(); SECTIONS];
        let own_has = |wanted: usize| own.iter().any(|line| section(line) == wanted);
        for line in BASE.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(';')) {
            let place = section(line);
            // Memory model, entry points and modes of a case replace those of the shader.
            if !(matches!(place, 3..=5) && own_has(place)) {
                sections[place].push(line.trim().to_owned());
            }
        }
        let mut in_function = false;
        for line in &own {
            in_function |= line.contains("OpFunction ");
            let place = if in_function { FUNCTIONS } else { section(line) };
            in_function &= !line.contains("OpFunctionEnd");
            sections[place].push((*line).to_owned());
        }
        let variables: Vec<&str> = own
            .iter()
            .filter(|line| section(line) == GLOBALS && line.contains("Variable"))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        for entry in &mut sections[4] {
            *entry = entry.replace("...", &variables.join(" "));
        }
        if !own.iter().any(|line| line.contains("OpFunction ") && line.starts_with("%main ")) {
            let body = std::mem::take(&mut sections[BODY]);
            sections[BODY] =
                ["%main = OpFunction %void None %fn".to_owned(), "%main_label = OpLabel".to_owned()].into();
            sections[BODY].extend(body);
            sections[BODY].extend(["OpReturn".to_owned(), "OpFunctionEnd".to_owned()]);
        }
        let own_version = if broken { self.broken_version.as_ref() } else { None };
        let version = own_version.or(self.version.as_ref()).map_or("1.6", String::as_str);
        format!("; SPIR-V\n; Version: {version}\n{}\n", sections.concat().join("\n"))
    }
}
