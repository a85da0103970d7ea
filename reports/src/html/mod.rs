//! The HTML page: one file that loads nothing from elsewhere.
//!
//! The page contains its data as JSON, and a script that renders the visible part. A page of a
//! hundred thousand cases therefore opens and filters without delay.

#[cfg(test)]
mod browser_tests;
mod case_details;
mod error_plots;
mod gather_footprint;
mod page_changes;
mod page_data;
mod page_rows;

use crate::{
    counted,
    diff::{ChangeKind, Diff, describe},
    group_digits,
    read::{ReadError, ResultDir},
};
use assay_events::Example;
use std::{
    fmt::Write as _,
    io::{self, BufWriter, Write},
};

const PAGE: &str = include_str!("page.html");
/// Style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");
const REPORT: &str = include_str!("report.html");
const SCRIPT: &str = include_str!("report.js");

/// Derives the permitted results of an example, as text; `None` for an example without a call.
pub type Derive<'a> = &'a (dyn Fn(&Example) -> Option<String> + Sync);

/// Page of one or several runs. Little more than the names of the cases is kept in memory.
pub struct Page(page_data::PageData);

impl Page {
    /// Reads the results.
    ///
    /// # Errors
    /// The results of a run cannot be read.
    pub fn read(runs: &[ResultDir], derive: Derive<'_>) -> Result<Page, ReadError> {
        page_data::PageData::read(runs, derive).map(Page)
    }

    /// Shows the changes since an earlier run above the causes. The page has one run, the newer one
    /// of the comparison.
    #[must_use]
    pub fn compared(mut self, diff: &Diff) -> Page {
        self.0.compare(diff);
        self
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let title = format!("Assay: {}", self.0.title());
        page(out, &title, REPORT, SCRIPT, |out| Ok(serde_json::to_writer(out, &self.0)?))
    }
}

/// Writes the page of a comparison.
///
/// # Errors
/// Writing fails.
pub fn diff_page(out: impl Write, diff: &Diff) -> io::Result<()> {
    /// Largest number of changes listed for each kind.
    const LISTED: usize = 5_000;
    let mut body = String::from("<header><h1>Comparison of two runs</h1></header>\n<main>\n<dl>");
    for (label, side) in [("old", &diff.old), ("new", &diff.new)] {
        let text = format!(
            "{}: {}, {}, {}, {}, budget {}, Assay {}",
            side.folder,
            side.device,
            side.driver,
            side.minute(),
            counted(side.cases, "case"),
            side.budget,
            side.version
        );
        _ = write!(body, "<dt>{label}</dt><dd>{}</dd>", escape(&text));
    }
    body += "</dl>\n";
    for caveat in &diff.caveats {
        _ = writeln!(body, "<p>Note: {}</p>", escape(caveat));
    }
    let (colour, verdict) = if diff.is_worse() { ("Fail", "Worse") } else { ("Pass", "Not worse") };
    _ = write!(body, "<div class=\"verdict\" style=\"--c:var(--{colour})\"><strong>{verdict}</strong>");
    for kind in ChangeKind::ALL {
        _ = write!(body, "<br>{}", kind.counted(diff.changes_of(kind).count()));
    }
    _ = writeln!(body, "<br>{} unchanged</div>", group_digits(diff.unchanged));
    if !diff.causes.is_empty() {
        body += "<h2>Causes of failures</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Causes of failures\"><table>";
        for change in &diff.causes {
            _ = writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", escape(&change.title), change.text());
        }
        body += "</table></div>\n";
    }
    for kind in ChangeKind::ALL {
        let all = diff.changes_of(kind).count();
        if all == 0 {
            continue;
        }
        let class = if kind.is_worse() { "up" } else { "" };
        let counted = kind.counted(all);
        let region = format!("class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{counted}\"");
        _ = writeln!(body, "<h2 class=\"{class}\">{counted}</h2>\n<div {region}><table>");
        for change in diff.changes_of(kind).take(LISTED) {
            let (name, what) = (escape(&change.name), escape(&describe(change)));
            _ = writeln!(body, "<tr><td class=\"mono\">{name}</td><td>{what}</td></tr>");
        }
        body += "</table></div>\n";
        if all > LISTED {
            _ = writeln!(
                body,
                "<p class=\"dim\">and {} more; <code>assay diff --json</code> lists all</p>",
                group_digits(all - LISTED)
            );
        }
    }
    body += "</main>\n";
    page(out, "Assay: comparison of two runs", &body, "document.body.dataset.ready = '1';", |out| {
        out.write_all(b"null")
    })
}

/// Writes a page; `data` writes its JSON.
fn page(
    out: impl Write,
    title: &str,
    body: &str,
    script: &str,
    data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut data = Some(data);
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.write_all(before.as_bytes())?;
        match (name, data.take()) {
            ("data", Some(data)) => data(&mut ScriptEscaper(&mut out))?,
            (name, kept) => {
                data = kept;
                let text = match name {
                    "title" => &escape(title),
                    "style" => STYLE,
                    "body" => body,
                    "script" => script,
                    _ => "",
                };
                out.write_all(text.as_bytes())?;
            }
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    out.flush()
}

/// Escapes `<` in JSON, so that the data cannot end its script element.
struct ScriptEscaper<W>(W);

impl<W: Write> Write for ScriptEscaper<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().position(|&byte| byte == b'<') {
            Some(0) => self.0.write_all(b"\\u003c").map(|()| 1),
            Some(at) => self.0.write(&bytes[..at]),
            None => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        test_contrast::{colour, contrast, schemes},
        test_events::{case, folder},
    };
    use assay_events::{CaseResult, Status};
    use serde_json::Value;

    /// Returns the data of a page as the script reads it.
    fn data(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut page = Vec::new();
        write(&mut page);
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn a_page_is_self_contained() {
        let dir = tempfile::tempdir().unwrap();
        let hostile = "p.f32.</script><b>&{{script}}";
        let cases = [case("p.f32.a", Status::Pass), case(hostile, Status::Fail), case("p.f16.c", Status::NotSupported)];
        let run = ResultDir::open(folder(dir.path(), &cases)).unwrap();
        let page = Page::read(&[run], &|example| Some(format!("derived by {}", example.explain_command()?))).unwrap();
        let page = written(|out| page.write(out).unwrap());
        for elsewhere in ["src=", "http://", "https://", "@import", "url("] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(elsewhere);
            assert!(!found, "{elsewhere}: nothing may come from elsewhere");
        }
        assert_eq!(page.matches("</script>").count(), 2);
        let data = data(&page);
        assert_eq!(data["cases"]["name"], serde_json::json!(["p.f16.c", hostile, "p.f32.a"]), "sorted");
        let detail = &data["details"]["1"];
        assert!(
            detail["classes"][0]["examples"][0]["derivation"].as_str().unwrap().starts_with("derived by assay explain")
        );
        assert_eq!(data["runs"][0]["colour"], "Fail");
        assert_eq!(data["runs"][0]["verdict"], "FAIL: 1 of 2 checked cases");
        // The script appends this to the name of a case.
        let again = format!(" --device {} --budget quick --seed 0", "00".repeat(16));
        assert_eq!(data["runs"][0]["again"], again.as_str());
    }

    #[test]
    fn runs_on_one_device_have_distinct_names_and_an_unfinished_case_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let cut = CaseResult { partial: true, ..case("p.b", Status::Pass) };
        let paths = [
            folder(&dir.path().join("monday"), &[case("p.a", Status::Pass)]),
            folder(&dir.path().join("tuesday"), &[case("p.a", Status::Pass), cut]),
        ];
        let runs = paths.map(|path| ResultDir::open(path).unwrap());
        let page = written(|out| Page::read(&runs, &|_| None).unwrap().write(out).unwrap());
        let data = data(&page);
        for (run, day) in ["monday", "tuesday"].into_iter().enumerate() {
            let name = data["runs"][run]["device"].as_str().unwrap();
            assert!(name.starts_with("test device (") && name.ends_with(&format!("{day})")), "{name}");
        }
        let standing = data["cases"]["standing"][2].as_u64().unwrap() as usize;
        assert_eq!(data["standings"][standing], "Missing");
    }

    #[test]
    fn two_results_of_one_case_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let run = ResultDir::open(folder(dir.path(), &[case("p.a", Status::Pass), case("p.a", Status::Fail)])).unwrap();
        let error = Page::read(&[run], &|_| None).err().expect("an error").to_string();
        assert!(error.contains("results.jsonl") && error.contains("`p.a`"), "{error}");
    }

    #[test]
    fn texts_and_graphics_have_enough_contrast_in_both_schemes() {
        for scheme in schemes(STYLE) {
            let colour = |name: &str| colour(scheme, name);
            let statuses = page_rows::STATUSES.map(|status| format!("{status:?}"));
            let texts = ["fg", "dim", "accent"].into_iter().chain(statuses.iter().map(String::as_str));
            for (name, least) in texts.map(|name| (name, 4.5)).chain([("edge", 3.0)]) {
                for background in ["bg", "soft"] {
                    let contrast = contrast(colour(name), colour(background));
                    assert!(contrast >= least, "{name} on {background}: {contrast:.2} is below {least}");
                }
            }
        }
    }

    #[test]
    fn a_diff_can_be_written_as_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let old = ResultDir::open(folder(&dir.path().join("old"), &[case("p.a<", Status::Pass)])).unwrap();
        let new = ResultDir::open(folder(&dir.path().join("new"), &[case("p.a<", Status::Fail)])).unwrap();
        let diff = crate::diff::diff(&old, &new, Default::default()).unwrap();
        let page = written(|out| diff_page(out, &diff).unwrap());
        assert!(page.contains("<strong>Worse</strong>") && page.contains("p.a&lt;") && page.contains("1 new failure<"));
    }
}
