//! Debian's Chromium, for tests of pages.

use std::{fs, path::Path, process::Command};

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

/// Checks of axe-core, once the page has opened what its address names.
const AXE: &str = "setTimeout(async () => {
    const found = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    const lines = found.violations.map(rule => rule.id + ': ' + rule.help + ': ' + rule.nodes[0].html);
    const checks = Object.assign(document.createElement('pre'), { id: 'checks', textContent: [found.passes.length, ...lines].join('\\n') });
    document.body.append(checks);
}, 1000);";

/// Returns the violations of WCAG 2.2 (levels A and AA) and of best practices that axe-core finds
/// in a page at an address, in the light and the dark scheme. `None`, with a message, without
/// Chromium or axe-core. A test without axe-core does not fail: it comes from npm's registry, which
/// a machine may not reach that reaches everything else.
pub(crate) fn accessibility_violations(page: &Path, address: &str) -> Option<Vec<String>> {
    let Some(axe) = std::env::var_os("ASSAY_AXE").filter(|axe| !axe.is_empty()) else {
        assay_testkit::skip("axe-core is missing (scripts/setup --tests fetches it)");
        return None;
    };
    let script = fs::read_to_string(axe).unwrap() + "\n" + AXE;
    let checked = page.with_file_name("accessibility.html");
    fs::write(&checked, with_checks(&fs::read_to_string(page).unwrap(), &script)).unwrap();
    let mut violations = Vec::new();
    for scheme in ["0", "1"] {
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let lines = browse(&checked, address, &["--virtual-time-budget=60000", &scheme])?.checks();
        let (passes, found) = lines.split_first().expect("axe-core counted its passes");
        assert!(passes.parse::<u32>().is_ok_and(|passes| passes > 5), "axe-core applied {passes} rules");
        violations.extend_from_slice(found);
    }
    Some(violations)
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
