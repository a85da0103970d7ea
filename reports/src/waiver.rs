//! Waivers: known failures that a lab tolerates until a date, each with an issue.

use crate::counted;
use assay_case::{NameFilter, NameFilters};
use assay_events::{CaseResult, DeviceInfo, Status, class_names};
use assay_files::input;
use jiff::civil::Date;
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

/// Example of a waiver file.
pub const WAIVER_EXAMPLE: &str = "\
  [[waiver]]
  cases = [\"precision.f32.exp2.*\"]   # filters, as for assay run
  status = \"Fail\"                    # default: Fail
  classes = [\"FewUlp\"]               # failure classes; default: any
  reason = \"*are not permitted*\"     # pattern for the reason; default: any
  issue = \"https://example.org/42\"
  expires = 2027-06-30
  device = { driver_name = \"llvmpipe\", driver_info = \"Mesa 22.3*\" }
                                     # also name, vendor_id, device_id, driver_version;
                                     # default: any device";

/// Error of a waiver file.
#[derive(Debug, thiserror::Error)]
pub enum WaiverError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file is not valid.
    #[error("{}: {what}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The problem and its location.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    #[serde(default)]
    waiver: Vec<WaiverEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverEntry {
    cases: Vec<String>,
    status: Option<Status>,
    #[serde(default)]
    classes: BTreeSet<String>,
    reason: Option<String>,
    issue: String,
    expires: toml::value::Datetime,
    #[serde(default)]
    device: DevicePattern,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DevicePattern {
    name: Option<String>,
    driver_name: Option<String>,
    driver_info: Option<String>,
    vendor_id: Option<u32>,
    device_id: Option<u32>,
    driver_version: Option<u32>,
}

impl DevicePattern {
    fn matches(&self, device: &DeviceInfo) -> bool {
        let texts = [
            (&self.name, &device.name),
            (&self.driver_name, &device.driver_name),
            (&self.driver_info, &device.driver_info),
        ];
        let numbers = [
            (self.vendor_id, device.vendor_id),
            (self.device_id, device.device_id),
            (self.driver_version, device.driver_version),
        ];
        texts.into_iter().all(|(wanted, has)| wanted.as_ref().is_none_or(|wanted| like(wanted, has)))
            && numbers.into_iter().all(|(wanted, has)| wanted.is_none_or(|wanted| wanted == has))
    }
}

/// Compares without regard to case. A pattern with stars is matched as a filter.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    if pattern.contains('*') { NameFilter::new(&pattern).matches(&text) } else { pattern == text }
}

/// A waiver.
pub(crate) struct Waiver {
    filters: Vec<NameFilter>,
    status: Status,
    classes: BTreeSet<String>,
    reason: Option<String>,
    issue: String,
    expires: Date,
    device: DevicePattern,
    /// Location: `waivers.toml, waiver 2`.
    place: String,
}

/// Result of matching a waiver against a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaiverMatch {
    /// The waiver covers the failure. Holds the issue.
    Covered(String),
    /// The waiver names the case but does not cover the failure. Holds the explanation.
    NotCovered(String),
}

impl Waiver {
    /// Returns true if the waiver names the case.
    fn concerns(&self, name: &str) -> bool {
        self.filters.iter().any(|filter| filter.matches(name))
    }

    fn judge(&self, case: &CaseResult, today: Date) -> WaiverMatch {
        let Waiver { place, issue, .. } = self;
        if today > self.expires {
            return WaiverMatch::NotCovered(format!("{place} ({issue}) expired on {}", self.expires));
        }
        if case.status != self.status {
            return WaiverMatch::NotCovered(format!(
                "{place} ({issue}) covers {:?}, but the status is {:?}",
                self.status, case.status
            ));
        }
        let other = case.classes.iter().find(|class| {
            class.status == Status::Fail && !self.classes.is_empty() && !self.classes.contains(&class.class)
        });
        if let Some(other) = other {
            let classes = self.classes.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            return WaiverMatch::NotCovered(format!("{place} ({issue}) covers {classes}, but not {}", other.class));
        }
        let said = case.reason.as_deref().unwrap_or_default();
        if let Some(reason) = self.reason.as_ref().filter(|reason| !like(reason, said)) {
            return WaiverMatch::NotCovered(format!(
                "{place} ({issue}) covers the reason `{reason}`, but the reason is `{said}`"
            ));
        }
        WaiverMatch::Covered(issue.clone())
    }
}

/// The waivers of a file. After [`Waivers::for_run`], those that apply to a device on a day.
#[derive(Default)]
pub struct Waivers {
    list: Vec<Waiver>,
    today: Date,
}

impl std::fmt::Debug for Waivers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} waivers on {}", self.list.len(), self.today)
    }
}

impl Waivers {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, does not have the form of [`WAIVER_EXAMPLE`], or a waiver has no
    /// end date or no filter.
    pub fn read(path: &Path) -> Result<Waivers, WaiverError> {
        let text = input::read_text(path, input::MAX_DESCRIPTION_BYTES)
            .map_err(|source| WaiverError::Read { path: path.to_owned(), source })?;
        let form = |what: String| WaiverError::Form { path: path.to_owned(), what };
        let file: WaiverFile = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let line = line.map_or_else(String::new, |line| format!("line {line}: "));
            form(format!("{line}{}; expected\n{WAIVER_EXAMPLE}", error.message()))
        })?;
        let mut list = Vec::new();
        for (index, entry) in file.waiver.into_iter().enumerate() {
            let number = index + 1;
            if entry.cases.is_empty() {
                return Err(form(format!(
                    "waiver {number} has no cases; give at least one filter, or \"*\" for all cases"
                )));
            }
            if let Some(status) = entry.status.filter(|status| !status.is_failure()) {
                let valid = "Fail, Crash, Timeout, DeviceLost or InternalError";
                return Err(form(format!("waiver {number}: status {status:?} is not a failure; expected {valid}")));
            }
            for name in &entry.classes {
                let unknown = |near: Vec<String>| {
                    form(format!("waiver {number}: unknown class `{name}`; similar classes: {}", near.join(", ")))
                };
                class_names::check_class_name(name).map_err(unknown)?;
            }
            let date = entry.expires.date.filter(|_| entry.expires.time.is_none());
            let date = date.and_then(|d| Date::new(d.year as i16, d.month as i8, d.day as i8).ok());
            let Some(expires) = date else {
                return Err(form(format!(
                    "waiver {number}: `{}` is not a date; expected, for example, 2027-06-30",
                    entry.expires
                )));
            };
            list.push(Waiver {
                filters: entry.cases.iter().map(|pattern| NameFilter::new(pattern)).collect(),
                status: entry.status.unwrap_or(Status::Fail),
                classes: entry.classes,
                reason: entry.reason,
                issue: entry.issue,
                expires,
                device: entry.device,
                place: format!("{}, waiver {number}", path.display()),
            });
        }
        Ok(Waivers { list, today: Date::default() })
    }

    /// Keeps the waivers for the device, and sets the day against which end dates are checked.
    #[must_use]
    pub fn for_run(mut self, device: &DeviceInfo, today: Date) -> Waivers {
        self.list.retain(|waiver| waiver.device.matches(device));
        Waivers { today, ..self }
    }

    /// Returns a message for each waiver with a filter that matches none of the names.
    pub fn unmatched<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let filters = NameFilters::new(self.list.iter().flat_map(|waiver| &waiver.filters).map(NameFilter::pattern));
        let unknown: BTreeSet<&str> = filters.unmatched(names).into_iter().map(NameFilter::pattern).collect();
        let say = |waiver: &Waiver| {
            let Waiver { place, issue, filters, .. } = waiver;
            let mut patterns = filters.iter().map(NameFilter::pattern).filter(|pattern| unknown.contains(pattern));
            let first = patterns.next()?;
            let more = match patterns.count() {
                0 => String::new(),
                more => format!(" or {}", counted(more, "other filter")),
            };
            Some(format!("{place} ({issue}): no known case matches `{first}`{more}"))
        };
        self.list.iter().filter_map(say).collect()
    }

    /// Returns the number of waivers.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if there are no waivers.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Matches the waivers against a failure; `None` if none names the case.
    pub(crate) fn judge(&self, case: &CaseResult) -> Option<WaiverMatch> {
        let mut refused = None;
        for waiver in self.list.iter().filter(|waiver| waiver.concerns(&case.name)) {
            match waiver.judge(case, self.today) {
                WaiverMatch::Covered(issue) => return Some(WaiverMatch::Covered(issue)),
                no @ WaiverMatch::NotCovered(_) => refused = refused.or(Some(no)),
            }
        }
        refused
    }

    /// Returns the indices of the waivers that name a case.
    pub(crate) fn concerning(&self, name: &str) -> impl Iterator<Item = usize> {
        let list = self.list.iter().enumerate();
        list.filter(move |(_, waiver)| waiver.concerns(name)).map(|(index, _)| index)
    }

    /// Returns a message for each waiver that was not needed. `seen` and `failed` hold the waivers
    /// that named a case, and a failing case.
    pub(crate) fn useless(&self, seen: &BTreeSet<usize>, failed: &BTreeSet<usize>) -> Vec<String> {
        let say = |(index, waiver): (usize, &Waiver)| {
            let Waiver { place, issue, .. } = waiver;
            if !seen.contains(&index) {
                Some(format!("{place} ({issue}) names none of the cases that ran"))
            } else if !failed.contains(&index) {
                Some(format!("{place} ({issue}) is no longer needed: none of its cases failed"))
            } else {
                None
            }
        };
        self.list.iter().enumerate().filter_map(say).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, run};
    use std::fs;

    fn read(text: &str) -> Result<Waivers, WaiverError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("waivers.toml");
        fs::write(&path, text).unwrap();
        Ok(Waivers::read(&path)?.for_run(&run(1).device, Date::new(2026, 11, 21).unwrap()))
    }

    const ONE: &str = "[[waiver]]\ncases = [\"p.a\"]\nclasses = [\"FewUlp\"]\nissue = \"I1\"\nexpires = 2026-11-21\n";

    #[test]
    fn a_waiver_covers_its_kind_of_failure_until_its_end() {
        let waivers = read(ONE).unwrap();
        assert_eq!(waivers.judge(&case("p.a.x", Status::Fail)), Some(WaiverMatch::Covered("I1".to_owned())));
        assert_eq!(waivers.judge(&case("p.b", Status::Fail)), None);
        let refused = |waivers: &Waivers, case: &CaseResult| match waivers.judge(case) {
            Some(WaiverMatch::NotCovered(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(refused(&waivers, &case("p.a", Status::Crash)).contains("covers Fail, but the status is Crash"));
        let mut wild = case("p.a", Status::Fail);
        wild.classes[0].class = "Wild".to_owned();
        assert!(refused(&waivers, &wild).contains("covers FewUlp, but not Wild"));
        let over = read(&ONE.replace("2026-11-21", "2026-11-20")).unwrap();
        assert!(refused(&over, &case("p.a", Status::Fail)).contains("expired on 2026-11-20"));
        let reason = read(&format!("{ONE}reason = \"*lost*\"\n")).unwrap();
        assert!(refused(&reason, &case("p.a", Status::Fail)).contains("covers the reason `*lost*`"));
    }

    #[test]
    fn a_waiver_applies_to_the_devices_that_it_names() {
        for (device, kept) in [
            ("driver_name = \"TestPipe\"", 1),
            ("driver_info = \"Mesa 22.3*\", vendor_id = 0x10005", 1),
            ("driver_info = \"Mesa 22.3\"", 0),
            ("name = \"other\"", 0),
            ("device_id = 1", 0),
            ("driver_version = 1", 1),
        ] {
            assert_eq!(read(&format!("{ONE}device = {{ {device} }}\n")).unwrap().len(), kept, "{device}");
        }
    }

    #[test]
    fn unneeded_waivers_are_reported() {
        let waivers = read(&format!("{ONE}{}", ONE.replace("p.a", "p.b"))).unwrap();
        let said = waivers.useless(&BTreeSet::from([0]), &BTreeSet::new());
        assert!(
            said[0].contains("waiver 1 (I1) is no longer needed") && said[1].contains("none of the cases"),
            "{said:?}"
        );
        assert!(waivers.useless(&BTreeSet::from([0, 1]), &BTreeSet::from([0, 1])).is_empty());
        assert_eq!(waivers.concerning("p.b").collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn waivers_with_unknown_cases_are_reported_for_any_device() {
        let elsewhere = ONE.replace("p.a", "p.z") + "device = { name = \"other\" }\n";
        let text = format!("{ONE}{elsewhere}{}", ONE.replace("\"p.a\"", "\"p.a\", \"p.y.*\", \"p.x\""));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("waivers.toml");
        fs::write(&path, text).unwrap();
        let said = Waivers::read(&path).unwrap().unmatched(["p.a.1", "p.b"].into_iter());
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].ends_with("waiver 2 (I1): no known case matches `p.z`"), "{said:?}");
        assert!(said[1].ends_with("waiver 3 (I1): no known case matches `p.y.*` or 1 other filter"), "{said:?}");
    }

    #[test]
    fn errors_name_the_line_and_show_the_format() {
        for (text, said) in [
            (ONE.replace("2026-11-21", "\"soon\""), "waivers.toml: line 5: "),
            (ONE.replace("2026-11-21", "12:00:00"), "waiver 1: `12:00:00` is not a date"),
            (ONE.replace("[\"p.a\"]", "[]"), "waiver 1 has no cases"),
            (ONE.replace("issue", "isue"), "line 4: unknown field `isue`"),
            (ONE.replace("issue = \"I1\"\n", ""), "missing field `issue`"),
            (format!("{ONE}status = \"Failed\"\n"), "unknown variant `Failed`"),
            (format!("{ONE}status = \"Pass\"\n"), "waiver 1: status Pass is not a failure; expected Fail, Crash"),
            (ONE.replace("FewUlp", "FewUlps"), "waiver 1: unknown class `FewUlps`; similar classes: FewUlp"),
            (format!("{ONE}device = {{ vendor = 1 }}\n"), "unknown field `vendor`"),
            ("[[waver]]\n".to_owned(), "unknown field `waver`"),
            ("[[waiver]\n".to_owned(), "line 1: "),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
