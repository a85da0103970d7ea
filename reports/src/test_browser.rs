//! Debian's Chromium, for tests of pages.

use std::{path::Path, process::Command};

/// A page as Chromium left it.
pub(crate) struct BrowsedPage {
    /// The document as HTML.
    pub(crate) document: String,
    /// Messages of the console, errors among them.
    pub(crate) console: Vec<String>,
}

impl BrowsedPage {
    /// Returns the lines that the checks of [`with_checks`] wrote into an element `checks`.
    pub(crate) fn checks(&self) -> Vec<String> {
        let (_, rest) = self.document.split_once("<pre id=\"checks\">").expect("the checks ran");
        let text = rest.split_once("</pre>").unwrap().0;
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").lines().map(str::to_owned).collect()
    }
}

/// Appends a script to a page.
pub(crate) fn with_checks(html: &str, script: &str) -> String {
    let end = html.rfind("</body>").unwrap();
    format!("{}<script>{script}</script>\n{}", &html[..end], &html[end..])
}

/// Opens a file at an address, `#case=..` or empty. `None`, with a message, without Chromium: a
/// test then ends, but fails where all test programs are expected.
pub(crate) fn browse(page: &Path, address: &str, options: &[&str]) -> Option<BrowsedPage> {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-sync", "--disable-component-update", "--enable-logging=stderr", "--dump-dom"])
        .args(options)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{address}", page.display()))
        .output();
    let Ok(output) = output else {
        assay_testkit::skip_missing("Chromium is missing");
        return None;
    };
    let log = String::from_utf8_lossy(&output.stderr);
    Some(BrowsedPage {
        document: String::from_utf8(output.stdout).expect("UTF-8"),
        console: log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect(),
    })
}
