//! What a case does wrong, and what it must come out as.

use assay_runner::{Repeated, Status};
use std::{fmt, str::FromStr};

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:literal,)*) => {
        /// What a case does wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $doc])* $fault,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &[Fault] = &[$(Fault::$fault),*];

            /// Its name, as it stands in names of cases.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$fault => $name,)* }
            }
        }
    };
}

faults! {
    /// Nothing.
    None = "pass",
    /// A warning.
    Warning = "warning",
    /// The device cannot run it.
    Unsupported = "unsupported",
    /// Wrong results.
    Wrong = "wrong",
    /// A validation layer objects.
    Invalid = "invalid",
    /// No memory, and the driver says so.
    OutOfMemory = "outofmemory",
    /// Takes a while.
    Slow = "slow",
    /// Ends by SIGSEGV.
    Segfault = "segfault",
    /// Aborts.
    Abort = "abort",
    /// Ends by SIGKILL each time, as by something from outside.
    Killed = "killed",
    /// Exits with code 0.
    Exit = "exit",
    /// Never ends.
    Hang = "hang",
    /// Never ends, and ignores SIGTERM and SIGINT.
    Stubborn = "stubborn",
    /// Never ends, and leaves a process behind that holds the pipes open.
    Orphan = "orphan",
    /// Writes garbage to the pipe.
    Garbage = "garbage",
    /// Writes half a message to the pipe and ends.
    Half = "half",
    /// Tells the result of a case that is not its own.
    Liar = "liar",
    /// Loses the device; what runs after it in the same process is wrong.
    Lost = "lost",
    /// Takes memory without end.
    Leak = "leak",
    /// Writes to stdout and stderr without end.
    Flood = "flood",
    /// Gives no result.
    Silent = "silent",
    /// Wrong results one time in ten.
    Flaky = "flaky",
    /// Wrong results in two of many chunks of inputs, each time the same.
    Spots = "spots",
    /// Wrong results in two of many chunks of inputs, with other bits each time.
    Restless = "restless",
    /// Wrong results in two of many chunks of inputs, which are right if nothing ran before them.
    Late = "late",
    /// Makes [`Fault::Poisoned`] cases fail that run after it in the same process.
    Poison = "poison",
    /// Fails after [`Fault::Poison`] only.
    Poisoned = "poisoned",
    /// Passes, and crashes after [`Fault::Poison`].
    Shaken = "shaken",
}

impl Fault {
    /// Whether a case with this fault may come out as that.
    pub fn permits(self, status: Status, repeated: Option<Repeated>) -> bool {
        use Repeated::{Flaky, InCompany, Same};
        let once = |wanted: Status| status == wanted && repeated.is_none();
        let confirmed = |wanted: Status| status == wanted && repeated == Some(Same);
        match self {
            Fault::None | Fault::Slow | Fault::Poison => once(Status::Pass),
            Fault::Warning => once(Status::QualityWarning),
            Fault::Unsupported => once(Status::NotSupported),
            Fault::OutOfMemory => once(Status::Undetermined),
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
            // They do not end either: it depends on the machine's load which limit they meet first.
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

    /// That of a case, by its name; nothing if it is no case of the rig.
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
