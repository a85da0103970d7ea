//! Options of a check, from the command line or a case file.

use crate::parameter::{self, IN_TURN, LIST};
use crate::{AddressWord, AddressedBuffer, BindingName, CheckError, ImageConfig, SamplerConfig};
use assay_case::{InputRange, Mixture};
use assay_exec::SubgroupControl;
use assay_oracle::{Limits, Robustness};
use assay_precision::Specification;
use assay_spirv::Module;
use assay_spirv::kernel_call::KernelCall;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// Options of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// Specification whose accuracy rules apply: WGSL's for implementations of WebGPU.
    pub rules: Specification,
    /// Entry point. May be omitted if there is only one for compute.
    pub entry: Option<String>,
    /// Workgroups along x, y and z [default: a few].
    pub groups: Option<[u32; 3]>,
    /// Values of specialisation constants: `SpecId` or name, and the value as text.
    pub specs: Vec<(String, String)>,
    /// Contents of the push constants.
    pub push: Option<BindingSource>,
    /// Values of single push constants, by path (`ne`, `size[0]`) or byte offset (`@16`). Several
    /// values serve the rounds in turn (`0/1/2`). Others keep their contents.
    pub push_values: Vec<(String, String)>,
    /// Contents of bindings before the dispatch. Others hold generated values. A name may also
    /// select scalars of a buffer, such as `params.size` or `0.1@16`, for a number.
    pub inputs: Vec<(BindingName, BindingSource)>,
    /// Lengths of run-time arrays, by binding or for all others; by default they follow from the
    /// dispatch.
    pub elements: Vec<(Option<BindingName>, u64)>,
    /// Sizes of images in texels, one number for each axis, which take precedence over `images`.
    pub image_sizes: Vec<(BindingName, Vec<u32>)>,
    /// Properties of images that do not follow from the shader and the dispatch.
    pub images: Vec<(BindingName, ImageConfig)>,
    /// Samplers. Others vary by round.
    pub samplers: Vec<(BindingName, SamplerConfig)>,
    /// Buffers without a descriptor, by name. Shaders reach them by device addresses.
    pub buffers: Vec<(String, AddressedBuffer)>,
    /// Words that hold device addresses.
    pub addresses: Vec<AddressWord>,
    /// Number of rounds, each with other inputs. There are more if a parameter has more values.
    pub rounds: u32,
    /// Seed of generated inputs.
    pub seed: u64,
    /// Set if padding in storage buffers must keep its contents. Must not be set if the shader
    /// stores whole structures, because such stores may write padding.
    pub padding: bool,
    /// Number of texels in a row, if a storage buffer represents an image with four scalars for
    /// each texel. Failures are then drawn.
    pub row: Option<usize>,
    /// Expected values, in addition to the specification's rules.
    pub expectations: Vec<Expectation>,
    /// Arguments of a kernel. Only suites have kernels, whose programs every process makes itself.
    #[serde(skip)]
    pub kernel: Option<KernelLaunch>,
    /// Approximate number of invocations whose output is checked: whole workgroups, or parts of some if
    /// their invocations are independent. `None` for all.
    pub checked_invocations: Option<u64>,
    /// Storage buffer in which the shader records its subgroup layout: for each invocation, in the
    /// order of workgroups and local indices, `SubgroupId`, `SubgroupLocalInvocationId` and
    /// `SubgroupSize`, a word each. Results are then checked under the recorded layout. `None`: an
    /// instrumented variant records the layout if results depend on it.
    pub subgroups: Option<BindingName>,
    /// Subgroup size and full subgroups of the pipeline.
    pub subgroup_control: SubgroupControl,
    /// Set if benign races are permitted: racing stores of one value to one location.
    pub benign_races: bool,
    /// Robustness of the device to accesses out of bounds. With robustness, a uniform buffer may be
    /// shorter than its block. `None`: no robustness, unless the search for parameters chooses it.
    pub robustness: Option<Robustness>,
    /// Limits of the oracle.
    pub limits: Limits,
    /// Set for the check of a bundle, whose options cannot be changed; errors then give no advice.
    pub fixed: bool,
    /// Set to refuse a module for rules that are otherwise warnings.
    pub strict: bool,
}

/// Call of an OpenCL kernel, which no Vulkan device runs as it is.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// Arguments, and the resources that handles refer to.
    pub call: KernelCall,
    /// The kernel as a compute shader, with the descriptors and push constants of the call.
    pub interface: Arc<Module>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            rules: Specification::Vulkan,
            entry: None,
            groups: None,
            specs: Vec::new(),
            push: None,
            push_values: Vec::new(),
            inputs: Vec::new(),
            elements: Vec::new(),
            image_sizes: Vec::new(),
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
            checked_invocations: None,
            subgroups: None,
            subgroup_control: SubgroupControl::default(),
            benign_races: false,
            robustness: None,
            limits: Limits::default(),
            fixed: false,
            strict: false,
        }
    }
}

impl Options {
    /// Returns whether some parameters of a search are given: contents, lengths, sizes or workgroups.
    pub(crate) fn gives_parameters(&self) -> bool {
        let Options { groups, specs, push, push_values, inputs, elements, image_sizes, .. } = self;
        groups.is_some()
            || push.is_some()
            || !(specs.is_empty() && push_values.is_empty() && inputs.is_empty())
            || !(elements.is_empty() && image_sizes.is_empty())
    }

    /// Applies the text of `--push`: contents of all push constants, values of single ones, or
    /// both, separated by commas.
    ///
    /// # Errors
    /// There are several contents.
    pub fn add_push(&mut self, text: &str) -> Result<(), CheckError> {
        let parameter::PushText { contents, values } = parameter::split_push(text).map_err(CheckError::option)?;
        if let Some(contents) = contents {
            self.push = Some(contents.parse()?);
        }
        self.push_values.extend(values);
        Ok(())
    }
}

/// Contents of a binding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BindingSource {
    /// Bytes of a file, which must match the size of the binding.
    File(PathBuf),
    /// Bytes.
    Bytes(#[serde(with = "base64_bytes")] Vec<u8>),
    /// This number in every scalar; of several numbers (`0/1/2`) one in each round, in turn.
    Number(String),
    /// The index of each scalar: 0, 1, 2, ..
    Index,
    /// One of these numbers in each scalar, by chance. A scalar takes those that its type has.
    OneOf(Vec<String>),
    /// Generated values.
    Mixture(Mixture),
}

/// Serialised form of bytes: base64.
pub(crate) mod base64_bytes {
    use base64::{Engine, prelude::BASE64_STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl FromStr for BindingSource {
    type Err = CheckError;

    /// As [`BindingSource::parse`], with paths relative to the current directory.
    fn from_str(text: &str) -> Result<BindingSource, CheckError> {
        Ok(BindingSource::parse(text, Path::new("")))
    }
}

impl BindingSource {
    /// Parses `zeros`, `ones`, `index`, `usual`, `hard`, `LO..HI`, `one-of:NUMBER,..`, `NUMBER`,
    /// `NUMBER/NUMBER/..`, `NUMBER,NUMBER,..` or `=NUMBER`; anything else is the path of a file. A file in `folder` whose name is a number or
    /// a range takes precedence over the number.
    pub(crate) fn parse(text: &str, folder: &Path) -> BindingSource {
        match text {
            "zeros" => BindingSource::Number("0".into()),
            "ones" => BindingSource::Number("1".into()),
            "index" => BindingSource::Index,
            "usual" => BindingSource::Mixture(Mixture::Usual),
            "hard" => BindingSource::Mixture(Mixture::Hard),
            _ => {
                if let Some(number) = text.strip_prefix('=') {
                    return BindingSource::Number(number.to_owned());
                }
                if let Some(numbers) = text.strip_prefix(ONE_OF) {
                    return BindingSource::OneOf(numbers.split(',').map(|number| number.trim().to_owned()).collect());
                }
                // `../data.bin` is a path, `1..2` a range.
                let (lo, hi) = text.split_once("..").unwrap_or_default();
                let number =
                    |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit() || "-+.i\u{2212}".contains(c));
                match text.parse::<InputRange>() {
                    _ if folder.join(text).exists() => BindingSource::File(PathBuf::from(text)),
                    Ok(range) if number(lo) && number(hi) => BindingSource::Mixture(Mixture::Range(range)),
                    _ if text.split([IN_TURN, LIST]).all(is_number) => BindingSource::Number(text.to_owned()),
                    _ => BindingSource::File(PathBuf::from(text)),
                }
            }
        }
    }
}

/// Prefix of a list of numbers.
pub(crate) const ONE_OF: &str = "one-of:";

/// Returns whether a text is a number, a boolean, bits after `0x`, `inf` or `nan`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+', '\u{2212}']).unwrap_or(text);
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).is_ok(),
        None => {
            matches!(text, "true" | "false")
                || matches!(digits, "inf" | "nan")
                || digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
        }
    }
}

/// Parses the name of a robustness level.
///
/// # Errors
/// It is not in [`Robustness::NAMED`].
pub fn robustness(text: &str) -> Result<Robustness, CheckError> {
    let found = Robustness::NAMED.into_iter().find(|(name, _)| *name == text);
    let names = Robustness::NAMED.map(|(name, _)| name).join(", ");
    found
        .map(|(_, robustness)| robustness)
        .ok_or_else(|| CheckError::option(format!("`{text}`: expected one of {names}")))
}

/// Splits a text at its first `=`.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub fn assignment(text: &str) -> Result<(String, String), CheckError> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(CheckError::option(format!("`{text}`: expected NAME=VALUE"))),
    }
}

/// Parses a number of workgroups: `64`, `8,8` or `4,4,2`.
///
/// # Errors
/// It is not a list of one to three positive numbers.
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

/// Expected value of an element, in addition to the specification's rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of the binding.
    pub binding: String,
    /// Path of the element: `.sums[3]`, or `(1, 0).r` for a component of a texel.
    pub element: String,
    /// A number, bits, or an inclusive range `LO..HI` in the order of the element's type. `nan` is
    /// any NaN.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_workgroup_counts_are_parsed() {
        let source = |text: &str| text.parse::<BindingSource>().unwrap();
        assert_eq!(source("zeros"), BindingSource::Number("0".into()));
        assert_eq!(source("=0x3f800000"), BindingSource::Number("0x3f800000".into()));
        assert!(matches!(source("-1.5..2"), BindingSource::Mixture(Mixture::Range(_))));
        assert!(matches!(source("../data.bin"), BindingSource::File(_)));
        for number in ["16", "-2.5", "0x3f800000", "1e9", "true", "-inf", "nan", "0/1/2", "0.5/-inf"] {
            assert_eq!(source(number), BindingSource::Number(number.into()), "{number}");
        }
        assert!(matches!(source("1.bin"), BindingSource::File(_)));
        for file in ["a..b", "1/a", "1/", "/1"] {
            assert!(matches!(source(file), BindingSource::File(_)), "{file}");
        }
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
