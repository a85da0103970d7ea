//! Random compute shaders for campaigns.
//!
//! * [`ProgramId`]: identity of a program, its seed and index. It is the name of a case, and needs no
//!   file.
//! * [`ProgramId::program`]: the program, in WGSL or SPIR-V, with its inputs.
//! * [`FailureSignature`]: what failures of one cause have in common.
//! * [`Coverage`]: combinations of instructions, types and modes that programs have reached.
//!
//! One program in ten is a mutant of a shader of the compute suite, which may contain computations of
//! another one; the others are made from nothing. [`mutant`] does the same with shaders of the user.
//!
//! Programs avoid undefined behaviour and results that depend on the order of invocations. Each one
//! uses a random subset of the features, because programs with few features show more defects than
//! programs with all of them (Groce et al., "Swarm Testing", ISSTA 2012).

mod cause;
mod coverage;
mod crossing;
mod instruction_choice;
mod mutation;
mod spirv;
mod wgsl;

pub use cause::FailureSignature;
pub use coverage::Coverage;

use assay_check::{AddressWord, BindingName, BindingSource, Options, ShaderSource, robustness};
use assay_suite::{Case, Program};
use fastrand::Rng;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// First component of the names of random programs.
pub const FAMILY: &str = "fuzz";

/// Identity of a random program: `fuzz.SEED.INDEX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId {
    /// Seed of the campaign.
    pub seed: u64,
    /// Index of the program in the campaign.
    pub index: u64,
}

impl fmt::Display for ProgramId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FAMILY}.{}.{}", self.seed, self.index)
    }
}

/// Programs of a campaign: `fuzz.SEED.INDEX` or `fuzz.SEED.FIRST-LAST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRange {
    /// Seed of the campaign.
    pub seed: u64,
    /// Indices of the programs.
    pub indices: RangeInclusive<u64>,
}

/// Error of parsing the name of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProgram(String);

impl fmt::Display for UnknownProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: expected fuzz.SEED.INDEX or fuzz.SEED.FIRST-LAST", self.0)
    }
}

impl std::error::Error for UnknownProgram {}

impl FromStr for ProgramRange {
    type Err = UnknownProgram;

    fn from_str(text: &str) -> Result<ProgramRange, UnknownProgram> {
        // `+7` and `07` would be further names of one program.
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        let parse = || {
            let (seed, indices) = text.strip_prefix(FAMILY)?.strip_prefix('.')?.split_once('.')?;
            let (first, last) = indices.split_once('-').unwrap_or((indices, indices));
            let indices = number(first)?..=number(last)?;
            (!indices.is_empty()).then_some(ProgramRange { seed: number(seed)?, indices })
        };
        parse().ok_or_else(|| UnknownProgram(text.to_owned()))
    }
}

impl ProgramRange {
    /// Returns true if a text is meant to name random programs.
    pub fn is_meant(text: &str) -> bool {
        text.strip_prefix(FAMILY).is_some_and(|rest| rest.starts_with('.'))
    }

    /// Returns the programs in order.
    pub fn programs(&self) -> impl Iterator<Item = ProgramId> {
        let seed = self.seed;
        self.indices.clone().map(move |index| ProgramId { seed, index })
    }
}

impl ProgramId {
    /// Returns the case that checks the program.
    pub fn case(self) -> Case {
        Case::generated(self.to_string(), move || self.program())
    }

    /// Returns the program with its inputs. Equal ids give equal programs on every machine.
    pub fn program(self) -> Program {
        let mut rng = Rng::with_seed(mixed(mixed(self.seed) ^ self.index));
        let kind = rng.u32(..10);
        if kind == 9 {
            let mutant = mutation::mutant_of_suite(&mut rng);
            let seed = mixed(self.seed ^ mixed(self.index));
            return Program { options: Options { seed, ..mutant.options }, ..mutant };
        }
        if kind < 2 {
            let reals = ("0.2".parse().expect("a binding"), "-8..8".parse().expect("a range"));
            let text = wgsl::shader(rng);
            return Program::from_text(&text, "wgsl", self.options([2, 1, 1], vec![reals], Vec::new()));
        }
        let made = spirv::shader(rng);
        let named = |binding: u32| format!("0.{binding}").parse().expect("a binding");
        let inputs = made.inputs.into_iter().map(|(binding, contents)| (named(binding), contents));
        let elements = made.elements.into_iter().map(|(binding, elements)| (Some(named(binding)), elements));
        let mut options = self.options(made.workgroups, inputs.collect(), elements.collect());
        let images = made.images.into_iter();
        options.images = images.map(|(name, image)| (format!("0.{name}").parse().expect("a binding"), image)).collect();
        options.samplers = made.samplers.into_iter().map(|(binding, sampler)| (named(binding), sampler)).collect();
        options.push = made.push;
        options.robustness = made.is_robust.then(|| robustness("access").expect("a level"));
        for spirv::AddressedInput { name, shape, word, contents } in made.addressed {
            options.buffers.push((name.to_owned(), shape.parse().expect("a shape")));
            options.addresses.push(AddressWord::parse(&word, name).expect("an address"));
            options.inputs.push((name.parse().expect("a name"), contents));
        }
        Program::new(made.text, options)
    }

    /// Returns a number below `count` that the id determines.
    pub fn chosen(self, count: usize) -> usize {
        Rng::with_seed(mixed(self.seed.wrapping_add(1) ^ mixed(self.index))).usize(..count)
    }

    fn options(
        self,
        groups: [u32; 3],
        inputs: Vec<(BindingName, BindingSource)>,
        elements: Vec<(Option<BindingName>, u64)>,
    ) -> Options {
        Options {
            rounds: 1,
            seed: mixed(self.seed ^ mixed(self.index)),
            groups: Some(groups),
            inputs,
            elements,
            ..Options::default()
        }
    }
}

/// Returns a mutant of a shader as SPIR-V text, with its changes in comments; `None` if no change
/// leaves it legal. Some of its computations may come from the donor. Equal arguments give equal
/// mutants.
pub fn mutant(shader: &ShaderSource, donor: &ShaderSource, name: &str, id: ProgramId) -> Option<String> {
    let mut rng = Rng::with_seed(mixed(mixed(id.seed) ^ id.index));
    let text = mutation::mutant(shader, donor, name, &mut rng);
    (!text.ends_with(":\n")).then_some(text)
}

/// Number of programs of which a campaign chooses. Choosing takes a third of a millisecond for each,
/// and later programs reach little that is new.
const CANDIDATES: u64 = 20_000;

/// Returns programs for a campaign: of twice as many, up to 20,000, those that reach combinations
/// which none before them reached, and the first of the others. They are in the order of their
/// indices.
pub fn preferred(seed: u64, programs: u64) -> Vec<ProgramId> {
    let candidates = programs.saturating_mul(2).min(CANDIDATES);
    if candidates <= programs {
        return (0..programs).map(|index| ProgramId { seed, index }).collect();
    }
    let mut coverage = Coverage::default();
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for index in 0..candidates {
        let id = ProgramId { seed, index };
        let program = id.program();
        let shader = ShaderSource::read(&format!("{id}.{}", program.ending), program.text.as_bytes());
        // One that is not even a module will be dropped, with the reason.
        let is_new = shader.is_ok_and(|shader| coverage.add(&shader.source.module) > 0);
        if is_new {
            chosen.push(id)
        } else {
            others.push(id)
        }
        if chosen.len() as u64 == programs {
            break;
        }
    }
    let missing = (programs as usize).saturating_sub(chosen.len());
    chosen.extend(others.into_iter().take(missing));
    chosen.sort_unstable();
    chosen
}

/// Mixes the bits of a number (the finaliser of SplitMix64, Steele et al., OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
