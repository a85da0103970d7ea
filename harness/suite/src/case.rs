//! Cases of suites, and the programs that they run.

use crate::shader_file::ShaderFile;
use crate::shader_session::{PreparedShader, ShaderOptions};
use crate::tile::Pass;
use assay_check::{CheckError, Options};
use assay_oracle::{Dispatch, Slot};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The path on which a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunPath {
    /// The case's own module, with the extension or feature itself.
    Native,
    /// A module rewritten to core SPIR-V. The result says nothing about native support.
    Lowered,
    /// No device: the oracle is compared with the suite's independent reference.
    Reference,
}

impl RunPath {
    /// All paths, the preferred one first.
    pub const ALL: [RunPath; 3] = [RunPath::Native, RunPath::Lowered, RunPath::Reference];

    /// Returns `native`, `lowered` or `reference`.
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

/// Error of parsing an unknown path name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPath(String);

impl fmt::Display for UnknownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown path `{}`: expected native, lowered or reference", self.0)
    }
}

impl std::error::Error for UnknownPath {}

impl FromStr for RunPath {
    type Err = UnknownPath;

    fn from_str(text: &str) -> Result<RunPath, UnknownPath> {
        RunPath::ALL.into_iter().find(|path| path.name() == text).ok_or_else(|| UnknownPath(text.to_owned()))
    }
}

/// Subject of a case, for reports and the coverage table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseSubject {
    /// The instruction under test, as SPIR-V spells it: `OpLoad`.
    pub instruction: &'static str,
    /// Types of results and operands, as reports print them: `u32 <- u8`.
    pub types: String,
    /// The requirement, in words.
    pub rule: &'static str,
    /// The clause or document that states the requirement: `SPV_KHR_8bit_storage`.
    pub clause: &'static str,
}

/// An independent reference: computes the contents after a dispatch of each buffer and image that
/// it covers.
pub type Reference = Box<dyn Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync>;

/// A lowered module, which a device runs in place of the program's own.
#[derive(Clone, Debug)]
pub struct LoweredModule {
    /// The module as text.
    pub text: String,
    /// Features that the program's own module requires and this one does not.
    pub features: &'static [&'static str],
    /// Device extensions that the program's own module requires and this one does not.
    pub extensions: &'static [&'static str],
}

/// A shader with its dispatch and resources.
pub struct Program {
    /// The shader as text. Its comments help in examining a failure.
    pub text: String,
    /// The file extension of the text: `spvasm` or `wgsl`.
    pub ending: &'static str,
    /// The dispatch and the contents of resources; [`Options::rounds`] is usually 1.
    pub options: Options,
    /// The independent reference, which shares no code with the oracle.
    pub reference: Option<Reference>,
    /// Lowered modules, best first; a device gets the first that it can run. Empty if the program
    /// is not lowered.
    pub lowered: Vec<LoweredModule>,
}

impl Program {
    /// A program of SPIR-V text with one round and without a reference.
    pub fn new(text: String, options: Options) -> Program {
        Program {
            text,
            ending: "spvasm",
            options: Options { rounds: 1, ..options },
            reference: None,
            lowered: Vec::new(),
        }
    }

    /// A program from a file with this extension; its options set the number of rounds.
    pub fn from_text(text: &str, ending: &'static str, options: Options) -> Program {
        Program { text: text.to_owned(), ending, options, reference: None, lowered: Vec::new() }
    }

    /// Sets the lowered modules: a device gets the first that it can run. The permitted results
    /// remain those of the program's own module.
    pub fn with_lowered(self, lowered: Vec<LoweredModule>) -> Program {
        Program { lowered, ..self }
    }

    /// Sets the independent reference.
    pub fn with_reference(
        self,
        reference: impl Fn(&Dispatch) -> BTreeMap<Slot, Vec<u8>> + Send + Sync + 'static,
    ) -> Program {
        Program { reference: Some(Box::new(reference)), ..self }
    }
}

/// Builds the program of a path; called only for paths that the case has.
type MakeProgram = dyn Fn(RunPath) -> Program + Send + Sync;

/// Builds a generated program.
type Generate = dyn Fn() -> Program + Send + Sync;

/// Builds the tile-shading render pass of a path.
type MakePass = dyn Fn(RunPath) -> Result<Pass, CheckError> + Send + Sync;

/// The function that builds the program or the render pass of a case, or its file.
#[derive(Clone)]
enum CaseBody {
    Program(Arc<MakeProgram>),
    Pass(Arc<MakePass>),
    /// A shader of the user.
    Shader(Arc<ShaderFile>),
    /// A shader of the user that was read and compiled, perhaps by another process.
    Prepared(Arc<PreparedShader>),
    /// A random program.
    Generated(Arc<Generate>),
}

/// A case: its name, its subject, and a function that builds its program on demand, or a file.
#[derive(Clone)]
pub struct Case {
    /// The name: `storage8.load.ssbo.u8.offset3`.
    pub name: String,
    /// Set if the quick budget includes the case.
    pub quick: bool,
    /// The subject.
    pub subject: CaseSubject,
    /// Names of the statements (`harness/coverage/statements`) that the case covers, where its
    /// module does not show that.
    pub covers: Vec<&'static str>,
    /// The paths that the case has, best first.
    pub paths: &'static [RunPath],
    body: CaseBody,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Case {
    /// A case of core Vulkan. There is nothing to lower: it has one program, which runs natively or
    /// as the reference.
    pub fn core(name: String, subject: CaseSubject, make: impl Fn() -> Program + Send + Sync + 'static) -> Case {
        const PATHS: [RunPath; 2] = [RunPath::Native, RunPath::Reference];
        Case {
            name,
            quick: true,
            subject,
            covers: Vec::new(),
            paths: &PATHS,
            body: CaseBody::Program(Arc::new(move |_| make())),
        }
    }

    /// A case of an extension that can be lowered, with one program for each path.
    pub fn extension(
        name: String,
        subject: CaseSubject,
        make: impl Fn(RunPath) -> Program + Send + Sync + 'static,
    ) -> Case {
        Case {
            name,
            quick: true,
            subject,
            covers: Vec::new(),
            paths: &RunPath::ALL,
            body: CaseBody::Program(Arc::new(make)),
        }
    }

    /// A case that runs a tile-shading render pass.
    pub fn tiles(
        name: String,
        subject: CaseSubject,
        make: impl Fn(RunPath) -> Result<Pass, CheckError> + Send + Sync + 'static,
    ) -> Case {
        Case {
            name,
            quick: true,
            subject,
            covers: Vec::new(),
            paths: &RunPath::ALL,
            body: CaseBody::Pass(Arc::new(make)),
        }
    }

    /// A case that checks a shader of the user.
    pub fn shader(name: String, file: ShaderFile) -> Case {
        Case::checked(name, CaseBody::Shader(Arc::new(file)))
    }

    /// A case that checks a shader of the user which was read and compiled.
    pub fn prepared(name: String, shader: PreparedShader) -> Case {
        Case::checked(name, CaseBody::Prepared(Arc::new(shader)))
    }

    /// A case whose result is that of a check.
    fn checked(name: String, body: CaseBody) -> Case {
        Case {
            name,
            quick: true,
            subject: CaseSubject { instruction: "", types: String::new(), rule: "", clause: "" },
            covers: Vec::new(),
            paths: &[RunPath::Native],
            body,
        }
    }

    /// A case that checks a random program. Its result is that of a check: nobody has examined the
    /// program, so that one which cannot be checked is Undetermined and not a defect of Assay.
    pub fn generated(name: String, generate: impl Fn() -> Program + Send + Sync + 'static) -> Case {
        Case::checked(name, CaseBody::Generated(Arc::new(generate)))
    }

    /// Builds the random program of the case; `None` for other cases.
    pub fn generate(&self) -> Option<Program> {
        match &self.body {
            CaseBody::Generated(generate) => Some(generate()),
            CaseBody::Program(_) | CaseBody::Pass(_) | CaseBody::Shader(_) | CaseBody::Prepared(_) => None,
        }
    }

    /// Returns true if the result of the case is that of a check.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self.body, CaseBody::Shader(_) | CaseBody::Prepared(_) | CaseBody::Generated(_))
    }

    /// Returns the file of a shader of the user; `None` for the programs of suites.
    pub fn shader_file(&self) -> Option<&ShaderFile> {
        match &self.body {
            CaseBody::Shader(file) => Some(file),
            CaseBody::Program(_) | CaseBody::Pass(_) | CaseBody::Prepared(_) | CaseBody::Generated(_) => None,
        }
    }

    /// Returns a shader of the user that was read and compiled; `None` for other cases.
    pub fn prepared_shader(&self) -> Option<&PreparedShader> {
        match &self.body {
            CaseBody::Prepared(shader) => Some(shader),
            CaseBody::Program(_) | CaseBody::Pass(_) | CaseBody::Shader(_) | CaseBody::Generated(_) => None,
        }
    }

    /// Reads and compiles the shader, if the case has a file. `portable` as for
    /// [`PreparedShader::of_file`].
    pub fn prepare(&mut self, options: ShaderOptions<'_>, portable: bool) {
        if let CaseBody::Shader(file) = &self.body {
            self.body = CaseBody::Prepared(Arc::new(PreparedShader::of_file(file, options, portable)));
        }
    }

    /// Excludes the case from the quick budget if `thinned` is set, because similar cases remain.
    #[must_use]
    pub fn thinned(self, thinned: bool) -> Case {
        Case { quick: !thinned, ..self }
    }

    /// Sets the statements that the case covers, where its module does not show that.
    #[must_use]
    pub fn covering(self, covers: impl Into<Vec<&'static str>>) -> Case {
        Case { covers: covers.into(), ..self }
    }

    /// Builds the program of a path. `None` if the case does not have that path, or runs a render
    /// pass.
    pub fn program(&self, path: RunPath) -> Option<Program> {
        match &self.body {
            CaseBody::Program(make) => self.paths.contains(&path).then(|| make(path)),
            CaseBody::Pass(_) | CaseBody::Shader(_) | CaseBody::Prepared(_) | CaseBody::Generated(_) => None,
        }
    }

    /// Builds the render pass of a path. `None` if the case runs a program.
    pub fn pass(&self, path: RunPath) -> Option<Result<Pass, CheckError>> {
        match &self.body {
            CaseBody::Program(_) | CaseBody::Shader(_) | CaseBody::Prepared(_) | CaseBody::Generated(_) => None,
            CaseBody::Pass(make) => Some(make(path)),
        }
    }
}

/// Sets the same covered statements for all the cases.
pub(crate) fn covering(cases: Vec<Case>, covers: &[&'static str]) -> Vec<Case> {
    cases.into_iter().map(|case| case.covering(covers)).collect()
}
