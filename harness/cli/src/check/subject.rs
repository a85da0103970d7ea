//! Subject of a check.

use assay_check::{Check, CheckError, CheckSession, SequenceSession, SessionOutput, SubjectRequest};
use assay_events::{CheckResult, DeviceInfo, Status};

/// Subject of a check: a shader, or a sequence of dispatches.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// A shader. The check is that of the session.
    Shader(&'a CheckSession, &'a Check<'a>),
    Sequence(&'a SequenceSession),
}

impl Subject<'_> {
    pub(super) fn request(self) -> SubjectRequest {
        match self {
            Subject::Shader(session, _) => SubjectRequest::Shader(Box::new(session.request())),
            Subject::Sequence(session) => SubjectRequest::Sequence(Box::new(session.request())),
        }
    }

    /// As [`Subject::request`], with the contents of input files in place of their paths.
    pub(super) fn portable_request(self) -> Result<SubjectRequest, CheckError> {
        match self {
            Subject::Shader(session, _) => Ok(SubjectRequest::Shader(Box::new(session.portable_request()?))),
            // Its memory is data.
            Subject::Sequence(_) => Ok(self.request()),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Subject::Shader(_, check) => &check.shader.name,
            Subject::Sequence(session) => &session.sequence.name,
        }
    }

    /// Returns the result for a target that gave none.
    pub(super) fn not_run(self, status: Status, reason: String) -> CheckResult {
        match self {
            Subject::Shader(_, check) => check.not_run(status, reason),
            Subject::Sequence(session) => session.not_run(status, reason),
        }
    }

    /// Returns the planted error, if there is one.
    pub(super) fn planted(self) -> Option<String> {
        let mutation = match self {
            Subject::Shader(session, _) => &session.mutation,
            Subject::Sequence(session) => &session.mutation,
        };
        mutation.as_ref().map(ToString::to_string)
    }

    pub(super) fn seed(self) -> u64 {
        match self {
            Subject::Shader(_, check) => check.setup.seed(),
            Subject::Sequence(session) => session.options.seed,
        }
    }

    /// Returns a note of what a search for parameters found, and its duration in seconds.
    pub(super) fn search_note(self) -> (Option<String>, f64) {
        match self {
            Subject::Shader(session, _) => session.search_note(),
            Subject::Sequence(_) => (None, 0.0),
        }
    }

    pub(super) fn conclude(
        self,
        result: &mut CheckResult,
        device: &DeviceInfo,
        output: SessionOutput<'_>,
    ) -> Result<(), CheckError> {
        match self {
            Subject::Shader(session, check) => session.conclude(check, result, device, output),
            Subject::Sequence(session) => session.conclude(result, output),
        }
    }
}
