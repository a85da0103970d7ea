//! What a check is asked to do, as the command line or a case file says it.

use crate::{AddressWord, CheckError, ImageForm, PointedForm, SamplerForm};
use assay_case::{InputRange, Mixture};
use assay_oracle::{Limits, Robustness, Slot};
use assay_precision::Rules;
use assay_spirv::Module;
use assay_spirv::kernel::KernelCall;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// What a check is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose accuracy rules hold: those of WGSL for what runs through an implementation of WebGPU.
    pub rules: Rules,
    /// The entry point; where there is only one for compute, none need be named.
    pub entry: Option<String>,
    /// Workgroups along x, y and z; by default a few.
    pub groups: Option<[u32; 3]>,
    /// Values of specialisation constants: `SpecId` or name, and the value as text.
    pub specs: Vec<(String, String)>,
    /// The push constants.
    pub push: Option<Source>,
    /// What bindings hold before the dispatch; the others hold what each round's mixture gives.
    pub inputs: Vec<(BindingName, Source)>,
    /// Elements of run-time arrays where they are not to follow from the dispatch; without a binding, of all others.
    pub elements: Vec<(Option<BindingName>, u64)>,
    /// Images as far as they are not to follow from the shader and the dispatch.
    pub images: Vec<(BindingName, ImageForm)>,
    /// Samplers; the others are what each round takes.
    pub samplers: Vec<(BindingName, SamplerForm)>,
    /// Buffers that no descriptor binds, by name: shaders reach them by their device addresses.
    pub buffers: Vec<(String, PointedForm)>,
    /// Words that hold such addresses.
    pub addresses: Vec<AddressWord>,
    /// How many rounds, each with other inputs.
    pub rounds: u32,
    /// The seed of what is generated.
    pub seed: u64,
    /// Whether bytes of storage buffers that belong to no element have to stay as they were: not where whole structures
    /// are stored, of which padding may be written.
    pub padding: bool,
    /// How many texels of four scalars of a storage buffer stand in a row, where the buffer stands for an image: failures are then
    /// drawn.
    pub row: Option<usize>,
    /// What is expected of elements beside what the specification permits.
    pub expectations: Vec<Expectation>,
    /// Of a kernel: what it is called with.
    pub kernel: Option<Kernel>,
    /// Check what about so many invocations write, by whole workgroups, rather than everything.
    pub sample: Option<u64>,
    /// The storage buffer in which the shader records where its invocations are in subgroups, if it does: for each invocation, in the
    /// order of workgroups and local indices, `SubgroupId`, `SubgroupLocalInvocationId` and `SubgroupSize`, a word each. What a device
    /// leaves is then held against what is permitted under the layout that it recorded.
    pub subgroups: Option<BindingName>,
    /// What the device is opened with for accesses beyond the end of buffers and images. Where it is robust, a uniform buffer may be
    /// given fewer bytes than its block has.
    pub robustness: Robustness,
    /// What the oracle may spend.
    pub limits: Limits,
    /// The check is that of a bundle, which no option can change: errors then advise none.
    pub fixed: bool,
    /// Whether a module is refused for breaches of rules that are otherwise only warnings.
    pub strict: bool,
}

/// What a kernel is called with, where no Vulkan device takes it as it is.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its arguments, and what its handles name.
    pub call: KernelCall,
    /// The kernel as a compute shader: its descriptors and push constants are those that the call speaks of.
    pub interface: Arc<Module>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            rules: Rules::Vulkan,
            entry: None,
            groups: None,
            specs: Vec::new(),
            push: None,
            inputs: Vec::new(),
            elements: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            buffers: Vec::new(),
            addresses: Vec::new(),
            rounds: 2,
            seed: 0,
            padding: false,
            row: None,
            expectations: Vec::new(),
            kernel: None,
            sample: None,
            subgroups: None,
            robustness: Robustness::None,
            limits: Limits::default(),
            fixed: false,
            strict: false,
        }
    }
}

/// How a binding is named: `SET.BINDING`, `BINDING` (of set 0), with `[ELEMENT]` for one of an array, or the variable's
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingName(String);

impl FromStr for BindingName {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<BindingName, CheckError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(CheckError::option("expected a binding: SET.BINDING, BINDING, or a variable's name"));
        }
        Ok(BindingName(text.to_owned()))
    }
}

impl From<Slot> for BindingName {
    fn from(slot: Slot) -> BindingName {
        BindingName(format!("{}.{}[{}]", slot.set, slot.binding, slot.element))
    }
}

impl fmt::Display for BindingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BindingName {
    /// Whether it means one of an array.
    pub fn is_element(&self) -> bool {
        self.0.contains('[')
    }

    /// Whether this descriptor, of a variable of that name, is meant. Without `[ELEMENT]` every one of an array is.
    pub fn names(&self, slot: Slot, variable: Option<&str>) -> bool {
        let (base, element) = match self.0.split_once('[') {
            Some((base, rest)) => match rest.trim_end_matches(']').parse::<u32>() {
                Ok(element) => (base, Some(element)),
                Err(_) => return false,
            },
            None => (self.0.as_str(), None),
        };
        if element.is_some_and(|element| element != slot.element) {
            return false;
        }
        let by_number = match base.split_once('.') {
            Some((set, binding)) => set.parse() == Ok(slot.set) && binding.parse() == Ok(slot.binding),
            None => slot.set == 0 && base.parse() == Ok(slot.binding),
        };
        by_number || variable == Some(base)
    }
}

/// Where the contents of a binding come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The bytes of a file, which must be as many as the binding has.
    File(PathBuf),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Every scalar this number.
    Number(String),
    /// Every scalar its own place among the scalars: 0, 1, 2, ..
    Index,
    /// Generated.
    Mixture(Mixture),
}

impl FromStr for Source {
    type Err = CheckError;

    /// `zeros`, `ones`, `index`, `usual`, `hard`, `LO..HI`, `=NUMBER`; else the path of a file.
    fn from_str(text: &str) -> Result<Source, CheckError> {
        Ok(match text {
            "zeros" => Source::Number("0".into()),
            "ones" => Source::Number("1".into()),
            "index" => Source::Index,
            "usual" => Source::Mixture(Mixture::Usual),
            "hard" => Source::Mixture(Mixture::Hard),
            _ => {
                if let Some(number) = text.strip_prefix('=') {
                    return Ok(Source::Number(number.to_owned()));
                }
                // `../data.bin` is a path, `1..2` a range.
                let (lo, hi) = text.split_once("..").unwrap_or_default();
                let number =
                    |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit() || "-+.i\u{2212}".contains(c));
                match text.parse::<InputRange>() {
                    Ok(range) if number(lo) && number(hi) && !Path::new(text).exists() => {
                        Source::Mixture(Mixture::Range(range))
                    }
                    _ => Source::File(PathBuf::from(text)),
                }
            }
        })
    }
}

/// What a device is opened with for accesses beyond ends, by its name.
///
/// # Errors
/// It is none of [`Robustness::NAMED`].
pub fn robustness(text: &str) -> Result<Robustness, CheckError> {
    let found = Robustness::NAMED.into_iter().find(|(name, _)| *name == text);
    let names = Robustness::NAMED.map(|(name, _)| name).join(", ");
    found
        .map(|(_, robustness)| robustness)
        .ok_or_else(|| CheckError::option(format!("`{text}`: expected one of {names}")))
}

/// Two parts around the first `=`.
///
/// # Errors
/// There is none.
pub fn assignment(text: &str) -> Result<(String, String), CheckError> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(CheckError::option(format!("`{text}`: expected NAME=VALUE"))),
    }
}

/// Workgroups as text: `64`, `8,8` or `4,4,2`.
///
/// # Errors
/// Not one to three numbers above 0.
pub fn groups(text: &str) -> Result<[u32; 3], CheckError> {
    let wrong = || CheckError::option(format!("`{text}`: expected workgroups as X, X,Y or X,Y,Z, each at least 1"));
    let mut groups = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (group, part) in groups.iter_mut().zip(parts) {
        *group = part.trim().parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?;
    }
    Ok(groups)
}

/// What is expected of an element, beside what the specification permits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The binding.
    pub binding: String,
    /// The path of the element: `.sums[3]`, of a texel's component `(1, 0).r`.
    pub element: String,
    /// A number or bits, or a range `LO..HI` of them, in the order of the element's type. `nan` is any NaN.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_named_by_number_or_name() {
        let slot = Slot { set: 1, binding: 2, element: 3 };
        for name in ["1.2", "1.2[3]", "data", "data[3]"] {
            assert!(name.parse::<BindingName>().unwrap().names(slot, Some("data")), "{name}");
        }
        for name in ["2", "1.2[2]", "other", "1.2[x]"] {
            assert!(!name.parse::<BindingName>().unwrap().names(slot, Some("data")), "{name}");
        }
        assert!("2".parse::<BindingName>().unwrap().names(Slot::new(0, 2), None));
        assert!("".parse::<BindingName>().is_err());
    }

    #[test]
    fn sources_and_groups_read_as_they_are_written() {
        let source = |text: &str| text.parse::<Source>().unwrap();
        assert_eq!(source("zeros"), Source::Number("0".into()));
        assert_eq!(source("=0x3f800000"), Source::Number("0x3f800000".into()));
        assert!(matches!(source("-1.5..2"), Source::Mixture(Mixture::Range(_))));
        assert!(matches!(source("../data.bin"), Source::File(_)));
        assert!(matches!(source("a..b"), Source::File(_)));
        assert_eq!(groups("8,4").unwrap(), [8, 4, 1]);
        for bad in ["0", "1,2,3,4", "x", ""] {
            assert!(groups(bad).is_err(), "{bad}");
        }
        assert_eq!(assignment("3=a=b").unwrap(), ("3".into(), "a=b".into()));
        assert!(assignment("=1").is_err());
        assert_eq!(robustness("access2").unwrap(), Robustness::Access2);
        assert!(robustness("full").unwrap_err().to_string().contains("none, access, access2"));
    }
}
