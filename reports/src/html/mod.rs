//! The page: one file that holds all it needs and asks the network for nothing.
//!
//! What is in it is data, as JSON; a script in it draws the parts that are in view. So a page of a hundred thousand cases
//! opens at once, filters while one types, and can be read, printed and passed on without anything beside it.

mod data;
mod footprint;

use crate::{
    count,
    diff::{Diff, Kind, describe},
    load::{LoadError, Opened},
};
use std::fmt::Write;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const REPORT: &str = include_str!("report.html");
const SCRIPT: &str = include_str!("report.js");

/// Derives what an operation may return, from the command line that does so (`Example::explain`): lines of text.
pub type Derive<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The page of one or several runs.
///
/// # Errors
/// The results of one cannot be read.
pub fn report(runs: &[Opened], derive: Derive<'_>) -> Result<String, LoadError> {
    let data = data::Page::read(runs, derive)?;
    let title = format!("Assay: {}", data.title());
    let json = serde_json::to_string(&data).map_err(|error| LoadError::Line {
        path: runs[0].file(),
        line: 0,
        what: format!("cannot be written as JSON: {error}"),
    })?;
    Ok(page(&title, REPORT, &json, SCRIPT))
}

/// The page of a comparison.
pub fn diff_page(diff: &Diff) -> String {
    /// Changes of a kind that are listed.
    const LISTED: usize = 5_000;
    let mut body = String::from("<header><h1>What changed</h1></header>\n<dl>");
    for (label, side) in [("old", &diff.old), ("new", &diff.new)] {
        let text = format!(
            "{}: {}, {}, {}, {} cases, budget {}, Assay {}",
            side.folder,
            side.device,
            side.driver,
            side.started,
            count(side.cases),
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
    for kind in Kind::ALL {
        _ = write!(body, "<br>{} {}", count(diff.of(kind).count()), kind.title());
    }
    _ = writeln!(body, "<br>{} unchanged</div>", count(diff.unchanged));
    for kind in Kind::ALL {
        let all = diff.of(kind).count();
        if all == 0 {
            continue;
        }
        let class = if kind.is_worse() { "up" } else { "" };
        _ = writeln!(body, "<h2 class=\"{class}\">{} {}</h2>\n<div class=\"scroll\"><table>", count(all), kind.title());
        for change in diff.of(kind).take(LISTED) {
            let (name, what) = (escape(&change.name), escape(&describe(change)));
            _ = writeln!(body, "<tr><td class=\"mono\">{name}</td><td>{what}</td></tr>");
        }
        body += "</table></div>\n";
        if all > LISTED {
            _ = writeln!(body, "<p class=\"dim\">and {} more; assay diff --json has all</p>", count(all - LISTED));
        }
    }
    page("Assay: what changed", &body, "null", "document.body.dataset.ready = '1';")
}

fn page(title: &str, body: &str, json: &str, script: &str) -> String {
    // In a script element only a `<` could end it; JSON may write it otherwise.
    let json = json.replace('<', "\\u003c");
    let parts = [("title", escape(title)), ("style", STYLE.to_owned()), ("body", body.to_owned())];
    let mut page = String::with_capacity(json.len() + (1 << 16));
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page += before;
        match name {
            "data" => page += &json,
            "script" => page += script,
            _ => page += parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text),
        }
        rest = after;
    }
    page + rest
}

/// Text within a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{case, folder};
    use assay_runner::Status;
    use serde_json::Value;

    /// The data of a page, as the script reads it.
    fn data(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn a_page_holds_all_it_needs() {
        let dir = tempfile::tempdir().unwrap();
        let hostile = "p.f32.</script><b>&{{script}}";
        let cases = [case("p.f32.a", Status::Pass), case(hostile, Status::Fail), case("p.f16.c", Status::NotSupported)];
        let run = Opened::open(folder(dir.path(), &cases)).unwrap();
        let page = report(&[run], &|command| Some(format!("derived by {command}"))).unwrap();
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
    }

    #[test]
    fn a_comparison_is_a_page_too() {
        let dir = tempfile::tempdir().unwrap();
        let old = Opened::open(folder(&dir.path().join("old"), &[case("p.a<", Status::Pass)])).unwrap();
        let new = Opened::open(folder(&dir.path().join("new"), &[case("p.a<", Status::Fail)])).unwrap();
        let diff = crate::diff::diff(&old, &new, Default::default()).unwrap();
        let page = diff_page(&diff);
        assert!(page.contains("<strong>Worse</strong>") && page.contains("p.a&lt;") && page.contains("1 new failures"));
    }
}
