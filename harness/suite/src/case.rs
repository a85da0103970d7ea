//! A case of a suite, and the program that it is run as.

use crate::tile::Pass;
use assay_check::{CheckError, Options};
use assay_oracle::{Dispatch, Slot};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How a case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunPath {
    /// With the extension or feature itself.
    Native,
    /// Rewritten to core SPIR-V: says nothing about native support.
    Lowered,
    /// By the oracle alone, held against the suite's own reference: says nothing about any device.
    Reference,
}

impl RunPath {
    /// Every path, best first.
    pub const ALL: [RunPath; 3] = [RunPath::Native, RunPath::Lowered, RunPath::Reference];

    /// `native`, `lowered`, `reference`.
    pub const fn name(self) -> &'static str {
        match self {
            RunPath::Native => "native",
            RunPath::Lowered => "lowered",
            RunPath::Reference => "reference",
        }
    }
}

impl fmt::Display for RunPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPath(String);

impl fmt::Display for UnknownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no path: expected native, lowered or reference", self.0)
    }
}

impl std::error::Error for UnknownPath {}

impl FromStr for RunPath {
    type Err = UnknownPath;

    fn from_str(text: &str) -> Result<RunPath, UnknownPath> {
        RunPath::ALL.into_iter().find(|path| path.name() == text).ok_or_else(|| UnknownPath(text.to_owned()))
    }
}

/// What a case is about, for reports and for the table of what is covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The instruction whose meaning is at stake, as SPIR-V spells it: `OpLoad`.
    pub instruction: &'static str,
    /// Types of results and operands, as reports write them: `u32 <- u8`.
    pub types: String,
    /// What is required, in words.
    pub rule: &'static str,
    /// The clause or document that requires it: `SPV_KHR_8bit_storage`.
    pub clause: &'static str,
}

/// A second reference: what each buffer and image that it knows of holds after a dispatch.
pub type Second = Box<dyn Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync>;

/// A module that a device is given in place of another one.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module, as text.
    pub text: String,
    /// Features of the program's own module that it does without.
    pub features: &'static [&'static str],
    /// Device extensions of the program's own module that it does without.
    pub extensions: &'static [&'static str],
}

/// What a case is run as.
pub struct Program {
    /// The shader, as text. Comments in it are for whoever looks into a failure.
    pub text: String,
    /// The ending of a file with that text: `spvasm`, `wgsl`.
    pub ending: &'static str,
    /// Its dispatch and what its resources hold; [`Options::rounds`] is usually 1.
    pub options: Options,
    /// A second reference, which shares nothing with the oracle.
    pub second: Option<Second>,
    /// Of a lowered program: what a device is given in place of the module, best first; the first that it can run.
    pub lowered: Vec<Lowered>,
}

impl Program {
    /// A program of SPIR-V text, of one round and without a second reference.
    pub fn new(text: String, options: Options) -> Program {
        Program { text, ending: "spvasm", options: Options { rounds: 1, ..options }, second: None, lowered: Vec::new() }
    }

    /// A program from a file with that ending, of as many rounds as it says.
    pub fn written(text: &str, ending: &'static str, options: Options) -> Program {
        Program { text: text.to_owned(), ending, options, second: None, lowered: Vec::new() }
    }

    /// A device is given another module, the first of these that it can run; what it has to leave is what the program's own
    /// module means.
    pub fn lowered(self, lowered: Vec<Lowered>) -> Program {
        Program { lowered, ..self }
    }

    /// With a second reference.
    pub fn with_second(self, second: impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static) -> Program {
        Program { second: Some(Box::new(second)), ..self }
    }
}

/// Writes the program of a path; only asked for the paths that the case has.
type Make = dyn Fn(RunPath) -> Program + Send + Sync;

/// Writes the render pass of tile shading of a path.
type MakePass = dyn Fn(RunPath) -> Result<Pass, CheckError> + Send + Sync;

/// What a case is run as.
#[derive(Clone)]
enum Work {
    Program(Arc<Make>),
    Pass(Arc<MakePass>),
}

/// A case: its name, what it is about, and how its program is written when it is needed.
#[derive(Clone)]
pub struct Case {
    /// Its name: `storage8.ssbo.load.u8.offset3`.
    pub name: String,
    /// Whether the quick budget includes it without being asked for it by name.
    pub quick: bool,
    /// What it is about.
    pub about: About,
    /// Statements that it is about where its module does not show that: names of `harness/coverage/statements`.
    pub covers: Vec<&'static str>,
    /// The paths that it can be run on, best first.
    pub paths: &'static [RunPath],
    work: Work,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("about", &self.about).finish_non_exhaustive()
    }
}

impl Case {
    /// A case of core Vulkan: there is nothing to lower, so it is run natively, or as the reference, with one program.
    pub fn core(name: String, about: About, make: impl Fn() -> Program + Send + Sync + 'static) -> Case {
        const PATHS: [RunPath; 2] = [RunPath::Native, RunPath::Reference];
        Case {
            name,
            quick: true,
            about,
            covers: Vec::new(),
            paths: &PATHS,
            work: Work::Program(Arc::new(move |_| make())),
        }
    }

    /// A case of an extension, which can be lowered: the program of each path.
    pub fn extension(name: String, about: About, make: impl Fn(RunPath) -> Program + Send + Sync + 'static) -> Case {
        Case { name, quick: true, about, covers: Vec::new(), paths: &RunPath::ALL, work: Work::Program(Arc::new(make)) }
    }

    /// A case of tile shading: a render pass.
    pub fn tiles(
        name: String,
        about: About,
        make: impl Fn(RunPath) -> Result<Pass, CheckError> + Send + Sync + 'static,
    ) -> Case {
        Case { name, quick: true, about, covers: Vec::new(), paths: &RunPath::ALL, work: Work::Pass(Arc::new(make)) }
    }

    /// Left out by the quick budget, where its likes say nearly as much.
    #[must_use]
    pub fn thinned(self, thinned: bool) -> Case {
        Case { quick: !thinned, ..self }
    }

    /// With the statements that it is about, where its module does not show that.
    #[must_use]
    pub fn covering(self, covers: impl Into<Vec<&'static str>>) -> Case {
        Case { covers: covers.into(), ..self }
    }

    /// The program of a path; `None` if the case has none, or is a render pass.
    pub fn program(&self, path: RunPath) -> Option<Program> {
        match &self.work {
            Work::Program(make) => self.paths.contains(&path).then(|| make(path)),
            Work::Pass(_) => None,
        }
    }

    /// The render pass of a path; `None` if the case is a program.
    pub fn pass(&self, path: RunPath) -> Option<Result<Pass, CheckError>> {
        match &self.work {
            Work::Program(_) => None,
            Work::Pass(make) => Some(make(path)),
        }
    }
}

/// A group of cases with the statements that all of them are about.
pub(crate) fn covering(cases: Vec<Case>, covers: &[&'static str]) -> Vec<Case> {
    cases.into_iter().map(|case| case.covering(covers)).collect()
}
