//! A shader of the user between reading its file and running it. One process may read and compile
//! it, and another may run it.

use crate::ShaderFile;
use assay_check::{
    CaseFile, CheckError, CheckSession, CompileOptions, Language, Options, SequenceSession, SessionOutput,
    ShaderSource, SubjectRequest,
};
use assay_events::CheckResult;
use assay_exec::Target;
use assay_runner::panic_message;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A shader of the user, read and compiled, or the reason why it is not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PreparedShader {
    /// It can be run.
    Ready(SubjectRequest),
    /// It cannot be checked.
    Refused(String),
    /// Assay panicked, which is a defect of Assay.
    Panicked(String),
}

/// Options of a run for the shaders of the user.
#[derive(Clone, Copy, Debug)]
pub struct ShaderOptions<'a> {
    /// Options of the compilers.
    pub compile: &'a CompileOptions,
    /// Seed of inputs that no case file fixes.
    pub seed: u64,
}

impl PreparedShader {
    /// Reads and compiles a file for another process. `portable`: the process may lack the files
    /// that it names as inputs.
    pub fn of_file(file: &ShaderFile, options: ShaderOptions<'_>, portable: bool) -> PreparedShader {
        let prepare = || ShaderSession::load(file, options)?.request(portable);
        match catch_unwind(AssertUnwindSafe(prepare)) {
            Ok(Ok(request)) => PreparedShader::Ready(request),
            Ok(Err(error)) => PreparedShader::Refused(error.to_string()),
            Err(panic) => PreparedShader::Panicked(panic_message(&*panic).to_owned()),
        }
    }
}

/// Reads and compiles a shader or the shader of a case file; `None` for a sequence of dispatches.
///
/// # Errors
/// The file cannot be read, is invalid, or does not compile.
pub fn check_session(file: &ShaderFile, options: ShaderOptions<'_>) -> Result<Option<CheckSession>, CheckError> {
    Ok(match ShaderSession::load(file, options)? {
        ShaderSession::Shader(session) => Some(*session),
        ShaderSession::Sequence(_) => None,
    })
}

/// A shader or a sequence with everything that its check needs.
#[derive(Debug)]
pub(crate) enum ShaderSession {
    Shader(Box<CheckSession>),
    Sequence(Box<SequenceSession>),
}

impl ShaderSession {
    /// Reads and compiles a file.
    ///
    /// # Errors
    /// The file cannot be read, is invalid, or does not compile.
    pub(crate) fn load(file: &ShaderFile, options: ShaderOptions<'_>) -> Result<ShaderSession, CheckError> {
        let common = Options { seed: options.seed, ..Options::default() };
        if let Some(session) = SequenceSession::load(&file.path, options.compile, common.clone())? {
            return Ok(ShaderSession::Sequence(Box::new(session)));
        }
        if let Some(compiled) = &file.compiled {
            let shader = ShaderSource::from_compiled((**compiled).clone())?;
            let session = CheckSession::new(shader, Options { entry: file.entry.clone(), ..common });
            return Ok(ShaderSession::Shader(Box::new(session)));
        }
        let is_case_file = file.path.extension().is_some_and(|ending| ending == "toml");
        let case = if is_case_file { CaseFile::load(&file.path)? } else { None };
        let shader = case.as_ref().map_or(&file.path, |case| &case.shader);
        // The options of compilers do not apply to the other shaders of a folder.
        let is_compiled = Language::detect(&shader.display().to_string(), &[]).is_external();
        let mut compile = if is_compiled { options.compile.clone() } else { CompileOptions::default() };
        compile.defines.extend(file.defines.iter().cloned());
        let mut of_check = case.as_ref().map_or(common, |case| case.options.clone());
        of_check.entry = file.entry.clone().or(of_check.entry);
        Ok(ShaderSession::Shader(Box::new(CheckSession::load(case, &file.path, compile, of_check)?)))
    }

    /// Returns the session of a request.
    ///
    /// # Errors
    /// The request is damaged.
    pub(crate) fn from_request(request: SubjectRequest) -> Result<ShaderSession, CheckError> {
        Ok(match request {
            SubjectRequest::Shader(request) => ShaderSession::Shader(Box::new(CheckSession::from_request(*request)?)),
            SubjectRequest::Sequence(request) => {
                ShaderSession::Sequence(Box::new(SequenceSession::from_request(*request)?))
            }
        })
    }

    fn request(&self, portable: bool) -> Result<SubjectRequest, CheckError> {
        Ok(match self {
            ShaderSession::Shader(session) if portable => SubjectRequest::Shader(Box::new(session.portable_request()?)),
            ShaderSession::Shader(session) => SubjectRequest::Shader(Box::new(session.request())),
            // Its memory is data.
            ShaderSession::Sequence(session) => SubjectRequest::Sequence(Box::new(session.request())),
        })
    }

    /// Checks on a target. A failure is traced.
    ///
    /// # Errors
    /// Mistakes in the file, also undefined behaviour.
    pub(crate) fn run(self, target: &dyn Target) -> Result<CheckResult, CheckError> {
        let output = SessionOutput { folder: None, command: &[] };
        match self {
            ShaderSession::Sequence(mut session) => {
                session.options.rules = target.rules();
                session.diagnosis.trace = true;
                let mut result = session.run(target, output, &|_| ())?;
                session.conclude(&mut result, output)?;
                Ok(result)
            }
            ShaderSession::Shader(mut session) => {
                session.options.rules = target.rules();
                session.diagnosis.trace = true;
                if session.may_run_on(target)? {
                    session.search(target, &|| ())?;
                }
                let check = session.check()?;
                session.must_have_inputs(&check)?;
                let mut result = session.run(&check, target, None, output, &|_| ())?;
                session.conclude(&check, &mut result, target.info(), output)?;
                Ok(result)
            }
        }
    }
}
