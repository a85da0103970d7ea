//! Subject of a check in a form that is sent to another process.

use crate::{SequenceRequest, SessionRequest};
use serde::{Deserialize, Serialize};

/// A shader or a sequence of dispatches, compiled and with its options, which needs no file except
/// the contents of inputs that it names by their paths.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SubjectRequest {
    /// A shader.
    Shader(Box<SessionRequest>),
    /// A sequence of dispatches.
    Sequence(Box<SequenceRequest>),
}
