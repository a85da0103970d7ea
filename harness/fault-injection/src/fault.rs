//! Injected faults and the results that they permit.

use assay_events::{RepeatVerdict, Status};
use std::{fmt, str::FromStr};

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:literal,)*) => {
        /// An injected fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $doc])* $fault,)*
        }

        impl Fault {
            /// All faults.
            pub const ALL: &[Fault] = &[$(Fault::$fault),*];

            /// Returns its name, as it occurs in the names of cases.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$fault => $name,)* }
            }
        }
    };
}

faults! {
    /// No fault.
    None = "pass",
    /// A warning.
    Warning = "warning",
    /// A requirement that the device does not meet.
    Unsupported = "unsupported",
    /// Wrong results.
    Wrong = "wrong",
    /// An error reported by a validation layer.
    Invalid = "invalid",
    /// Out of memory, reported by the driver.
    OutOfMemory = "outofmemory",
    /// A run of some time that then passes.
    Slow = "slow",
    /// An end by SIGSEGV.
    Segfault = "segfault",
    /// An abort in a shader that may have undefined behaviour.
    Undefined = "undefined",
    /// An abort.
    Abort = "abort",
    /// An end by SIGKILL each time, as by an external signal.
    Killed = "killed",
    /// An exit with code 0.
    Exit = "exit",
    /// A hang.
    Hang = "hang",
    /// A hang that ignores SIGTERM and SIGINT.
    Stubborn = "stubborn",
    /// A hang with a child process that holds the pipes open.
    Orphan = "orphan",
    /// Garbage written to the pipe.
    Garbage = "garbage",
    /// Half a message written to the pipe, and an exit.
    Half = "half",
    /// The result of another case.
    Liar = "liar",
    /// A loss of the device; later results of the same process are wrong.
    Lost = "lost",
    /// Endless allocation of memory.
    Leak = "leak",
    /// Endless output to stdout and stderr.
    Flood = "flood",
    /// No result.
    Silent = "silent",
    /// Wrong results one time in ten.
    Flaky = "flaky",
    /// Wrong results in two of many chunks of inputs, equal each time.
    Spots = "spots",
    /// Wrong results in two of many chunks of inputs, with different bits each time.
    Restless = "restless",
    /// Wrong results in two of many chunks of inputs, which are correct if nothing ran before them.
    Late = "late",
    /// No fault of its own, but [`Fault::Poisoned`] and [`Fault::Shaken`] cases later in the same
    /// process fail.
    Poison = "poison",
    /// A failure, only after [`Fault::Poison`].
    Poisoned = "poisoned",
    /// A crash, only after [`Fault::Poison`].
    Shaken = "shaken",
}

impl Fault {
    /// Returns true if a case with this fault may have this status and confirmation.
    pub fn permits(self, status: Status, repeated: Option<RepeatVerdict>) -> bool {
        use RepeatVerdict::{Flaky, InCompany, Same};
        let once = |wanted: Status| status == wanted && repeated.is_none();
        let confirmed = |wanted: Status| status == wanted && repeated == Some(Same);
        match self {
            Fault::None | Fault::Slow | Fault::Poison => once(Status::Pass),
            Fault::Warning => once(Status::QualityWarning),
            Fault::Unsupported => once(Status::NotSupported),
            Fault::OutOfMemory | Fault::Undefined => once(Status::Undetermined),
            Fault::Wrong | Fault::Spots | Fault::Late => confirmed(Status::Fail),
            Fault::Restless => status == Status::Fail && repeated == Some(Flaky),
            Fault::Invalid => confirmed(Status::InternalError),
            Fault::Silent => confirmed(Status::InternalError),
            Fault::Segfault
            | Fault::Abort
            | Fault::Killed
            | Fault::Exit
            | Fault::Garbage
            | Fault::Half
            | Fault::Liar => confirmed(Status::Crash),
            // These do not end either, so the machine's load decides which limit they exceed first.
            Fault::Leak | Fault::Flood => {
                matches!(status, Status::Crash | Status::Timeout) && matches!(repeated, Some(Same | Flaky))
            }
            Fault::Hang | Fault::Stubborn | Fault::Orphan => confirmed(Status::Timeout),
            Fault::Lost => confirmed(Status::DeviceLost),
            Fault::Flaky => once(Status::Pass) || status == Status::Fail && matches!(repeated, Some(Same | Flaky)),
            Fault::Poisoned => once(Status::Pass) || status == Status::Fail && repeated == Some(InCompany),
            Fault::Shaken => once(Status::Pass) || status == Status::Crash && repeated == Some(InCompany),
        }
    }

    /// Returns the fault of a case by its name; `None` if it is not a case of this crate.
    pub fn of(name: &str) -> Option<Fault> {
        name.strip_prefix("mock.")?.split('.').next()?.parse().ok()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        Fault::ALL
            .iter()
            .copied()
            .find(|fault| fault.name() == text)
            .ok_or_else(|| format!("there is no fault `{text}`"))
    }
}
