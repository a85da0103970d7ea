//! The call behind an example, as data, and its command line for display.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The call of an instruction whose permitted set `assay explain` derives, without its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub struct ExampleCall {
    /// The instruction, as SPIR-V spells it.
    pub op: String,
    /// Type of the main operand; for a conversion, of the result: `f32`.
    pub format: String,
    /// Operand type of a conversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Shape of the widest operand: `scalar`, `vec2`.
    pub shape: String,
    /// Declared modes, in SPIR-V's names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// Set if WGSL's rules judge the result instead of Vulkan's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wgsl: bool,
    /// Set if the call returns several scalars, of which an example has one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several_results: bool,
}

impl ExampleCall {
    /// Returns the command that derives the permitted set for these operands, and judges the result
    /// of a device, if one is given and is the only one.
    pub fn command(&self, operands: &[String], got: Option<&str>) -> String {
        let ExampleCall { op, format, from, shape, modes, wgsl, several_results } = self;
        let mut command = format!("assay explain {op} --format {format}");
        if let Some(from) = from {
            command += &format!(" --from {from}");
        }
        command += &format!(" --shape {shape}");
        if !modes.is_empty() {
            command += &format!(" --mode {}", modes.join("+"));
        }
        if *wgsl {
            command += " --api wgpu";
        }
        command += &format!(" --in {}", operands.join(","));
        if let Some(got) = got.filter(|_| !several_results) {
            command += &format!(" --got {got}");
        }
        command
    }

    /// Returns the call of a command line in a result folder of schema 1; `None` for other commands,
    /// such as the one that repeats a program.
    fn from_schema_1(command: &str) -> Option<ExampleCall> {
        let mut words = command.strip_prefix("assay explain ")?.split(' ');
        let mut call = ExampleCall { op: words.next()?.to_owned(), several_results: true, ..ExampleCall::default() };
        while let (Some(option), Some(value)) = (words.next(), words.next()) {
            match option {
                "--format" => call.format = value.to_owned(),
                "--from" => call.from = Some(value.to_owned()),
                "--shape" => call.shape = value.to_owned(),
                "--mode" => call.modes = value.split('+').map(str::to_owned).collect(),
                "--api" => call.wgsl = value == "wgpu",
                // It judges the only result.
                "--got" => call.several_results = false,
                _ => {}
            }
        }
        Some(call)
    }
}

/// Reads the call of an example: as data, or as the command line of schema 1.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ExampleCall>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Call(ExampleCall),
        Schema1(String),
    }
    Ok(match Option::<Form>::deserialize(deserializer)? {
        Some(Form::Call(call)) => Some(call),
        Some(Form::Schema1(command)) => ExampleCall::from_schema_1(&command),
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Example;

    fn call() -> ExampleCall {
        ExampleCall {
            op: "OpFConvert".to_owned(),
            format: "f16".to_owned(),
            from: Some("f32".to_owned()),
            shape: "vec2".to_owned(),
            modes: vec!["DenormPreserve".to_owned(), "RoundingModeRTE".to_owned()],
            wgsl: true,
            several_results: true,
        }
    }

    #[test]
    fn the_command_has_every_part_of_the_call() {
        let operands = ["0x1".to_owned(), "0x2".to_owned()];
        let options = "--format f16 --from f32 --shape vec2 --mode DenormPreserve+RoundingModeRTE --api wgpu";
        let command = format!("assay explain OpFConvert {options} --in 0x1,0x2");
        assert_eq!(call().command(&operands, Some("0x3")), command);
        let single = ExampleCall { several_results: false, ..call() };
        assert_eq!(single.command(&operands, Some("0x3")), format!("{command} --got 0x3"));
        assert_eq!(single.command(&operands, None), command);
    }

    #[test]
    fn an_example_of_schema_1_has_its_call() {
        let example = |explain: &str| -> Example {
            let text = format!(
                r#"{{"operands":["0x1"],"slot":0,"got":"0x3","permitted":[],"margin":2,"explain":"{explain}"}}"#
            );
            serde_json::from_str(&text).expect("an example")
        };
        for call in
            [call(), ExampleCall { several_results: false, from: None, modes: Vec::new(), wgsl: false, ..call() }]
        {
            let command = call.command(&["0x1".to_owned()], Some("0x3"));
            let read = example(&command);
            assert_eq!((read.call.as_ref(), read.explain_command()), (Some(&call), Some(command)));
            let again = serde_json::to_string(&read).expect("serialises");
            assert!(!again.contains("assay explain"), "{again}");
            assert_eq!(serde_json::from_str::<Example>(&again).expect("reads back"), read);
        }
        for program in ["", "assay run storage8.whole --device 00 --budget quick --seed 0"] {
            assert_eq!(example(program).call, None, "{program}");
        }
    }
}
