//! Margins over time: an SQLite database of results, and charts of it.

use crate::{
    margin,
    read::{ReadError, ResultDir},
};
use assay_case::NameFilter;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Path, PathBuf},
};

/// Version of the tables; increased when they change.
const VERSION: i64 = 1;

const TABLES: &str = "
    create table run (
        id integer primary key,
        device text not null, driver text not null, driver_version integer not null, uuid text not null,
        version text not null, budget text not null, seed integer not null, started text not null,
        folder text not null, cases integer not null,
        unique (started, uuid, budget, seed, folder)
    );
    create table name (id integer primary key, name text not null unique);
    create table result (
        run integer not null references run (id) on delete cascade,
        name integer not null references name (id),
        status text not null, classes text not null, margin real, failing integer not null,
        primary key (name, run)
    ) without rowid;
";

/// Error of a history. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The results to add cannot be read.
    #[error(transparent)]
    Load(#[from] ReadError),
    /// SQLite reports an error.
    #[error("{}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Cause.
        source: rusqlite::Error,
    },
    /// The file is not a history, or a later version wrote it.
    #[error("{}: {what}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The problem.
        what: String,
    },
    /// The file does not exist.
    #[error("the history {} does not exist; create it with `assay history add DIR --db FILE`", .0.display())]
    Missing(PathBuf),
}

/// A history database.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    connection: Connection,
}

/// Result of a case in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// Start time of the run, RFC 3339.
    pub started: String,
    /// Name and version of the driver, as the driver reports them.
    pub driver: String,
    /// Status of the case.
    pub status: String,
    /// Failure classes, separated by spaces.
    pub classes: String,
    /// Greatest margin; `None` without one, 1e999 if infinite.
    pub margin: Option<f64>,
}

/// Results of a case on one device over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseHistory {
    /// The case.
    pub case: String,
    /// The device.
    pub device: String,
    /// Results, earliest first.
    pub points: Vec<HistoryPoint>,
}

impl History {
    /// Opens a history; with `create`, creates it if it does not exist.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or has a later version.
    pub fn open(path: impl Into<PathBuf>, create: bool) -> Result<History, HistoryError> {
        let path = path.into();
        if !create && !path.exists() {
            return Err(HistoryError::Missing(path));
        }
        let failed = |source| HistoryError::Database { path: path.clone(), source };
        let connection = Connection::open(&path).map_err(failed)?;
        let set = |name: &str, value: &str| connection.pragma_update(None, name, value);
        set("foreign_keys", "on").map_err(failed)?;
        let version: i64 = connection.query_row("pragma user_version", [], |row| row.get(0)).map_err(failed)?;
        let tables: i64 =
            connection.query_row("select count(*) from sqlite_master", [], |row| row.get(0)).map_err(failed)?;
        // Queries do not read every page, so damage could go unnoticed and be preserved by later
        // writes.
        let check: String = connection.query_row("pragma quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if check != "ok" {
            // The first line of SQLite's report names the database, which is always `main`.
            let damage = check.lines().last().unwrap_or_default();
            let what = format!("damaged ({damage}); restore a copy, or choose another file");
            return Err(HistoryError::Form { path, what });
        }
        match (version, tables) {
            (0, 0) => {
                connection.execute_batch(TABLES).map_err(failed)?;
                set("user_version", &VERSION.to_string()).map_err(failed)?;
            }
            (0, _) => {
                let what = "an SQLite database, but not a history of Assay".to_owned();
                return Err(HistoryError::Form { path, what });
            }
            (VERSION, _) => {}
            (later, _) => {
                let what = format!("version {later} is newer than this Assay supports (up to {VERSION})");
                return Err(HistoryError::Form { path, what });
            }
        }
        Ok(History { path, connection })
    }

    fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> HistoryError {
        move |source| HistoryError::Database { path: path.to_owned(), source }
    }

    /// Adds the results of all runs, or of none on an error. Returns the number of results of each
    /// run. Rejects a run that the history already has.
    ///
    /// # Errors
    /// The results cannot be read or written, or are already in the history.
    pub fn add(&mut self, runs: &[ResultDir]) -> Result<Vec<usize>, HistoryError> {
        let path = self.path.clone();
        let failed = History::failed(&path);
        let change = self.connection.transaction().map_err(&failed)?;
        let added = runs.iter().map(|run| add_results(&change, &path, run)).collect::<Result<_, _>>()?;
        change.commit().map_err(&failed)?;
        Ok(added)
    }

    /// Returns the histories of the cases that match a filter, or of all cases without filters, by
    /// name and device.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn case_histories(&self, filters: &[NameFilter]) -> Result<Vec<CaseHistory>, HistoryError> {
        let failed = History::failed(&self.path);
        let read = || -> rusqlite::Result<BTreeMap<(String, String), Vec<HistoryPoint>>> {
            let mut names = self.connection.prepare("select id, name from name order by name")?;
            let mut points = self.connection.prepare(
                "select device, started, driver, status, classes, margin from result join run on run = run.id
                 where name = ?1 order by started, run.id",
            )?;
            let mut courses: BTreeMap<(String, String), Vec<HistoryPoint>> = BTreeMap::new();
            let names = names.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
            for name in names {
                let (id, name) = name?;
                if !filters.is_empty() && !filters.iter().any(|filter| filter.matches(&name)) {
                    continue;
                }
                let mut rows = points.query([id])?;
                while let Some(row) = rows.next()? {
                    let point = HistoryPoint {
                        started: row.get(1)?,
                        driver: row.get(2)?,
                        status: row.get(3)?,
                        classes: row.get(4)?,
                        margin: row.get(5)?,
                    };
                    courses.entry((name.clone(), row.get(0)?)).or_default().push(point);
                }
            }
            Ok(courses)
        };
        let courses = read().map_err(failed)?.into_iter();
        Ok(courses.map(|((case, device), points)| CaseHistory { case, device, points }).collect())
    }
}

/// Adds the results of a run and returns their number.
fn add_results(change: &Transaction<'_>, path: &Path, run: &ResultDir) -> Result<usize, HistoryError> {
    let results = run.results(|line| {
        let brief = line.brief;
        let status = format!("{:?}", brief.final_status()?);
        Some((brief.name.to_string(), status, brief.failure_classes().join(" "), brief.margin(), brief.failing_inputs))
    })?;
    let results: Vec<_> = results.into_iter().flatten().collect();
    let mut names = BTreeSet::new();
    if let Some((name, ..)) = results.iter().find(|(name, ..)| !names.insert(name.as_str())) {
        return Err(ReadError::Twice { path: run.file(), name: name.clone() }.into());
    }
    let failed = History::failed(path);
    let id = add_run(change, run, results.len()).map_err(&failed)?;
    let Some(id) = id else {
        let what = format!("already has the run of {} that started at {}", run.run.device.name, run.run.started);
        return Err(HistoryError::Form { path: path.to_owned(), what });
    };
    let added = results.len();
    let insert = || -> rusqlite::Result<()> {
        let mut name = change.prepare("insert into name (name) values (?1) on conflict (name) do nothing")?;
        let mut result = change.prepare(
            "insert into result (run, name, status, classes, margin, failing)
                 values (?1, (select id from name where name = ?2), ?3, ?4, ?5, ?6)",
        )?;
        for (case, status, classes, margin, failing) in results {
            name.execute([&case])?;
            result.execute(params![id, case, status, classes, margin, failing as i64])?;
        }
        Ok(())
    };
    insert().map_err(&failed)?;
    Ok(added)
}

/// Adds a run; `None` if the history already has it.
fn add_run(change: &Transaction<'_>, run: &ResultDir, cases: usize) -> rusqlite::Result<Option<i64>> {
    let info = &run.run;
    let device = &info.device;
    let driver = format!("{} {}", device.driver_name, device.driver_info).trim().to_owned();
    // A run is identified by its properties, because its directory may have been copied.
    let query = "select id from run where started = ?1 and uuid = ?2 and budget = ?3 and seed = ?4 and cases = ?5";
    let identity = params![info.started, device.uuid, info.budget, info.seed as i64, cases as i64];
    if change.query_row(query, identity, |row| row.get::<_, i64>(0)).optional()?.is_some() {
        return Ok(None);
    }
    change.execute(
        "insert into run (device, driver, driver_version, uuid, version, budget, seed, started, folder, cases)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            device.name,
            driver,
            device.driver_version,
            device.uuid,
            info.version,
            info.budget,
            info.seed as i64,
            info.started,
            run.path.display().to_string(),
            cases as i64,
        ],
    )?;
    Ok(Some(change.last_insert_rowid()))
}

impl CaseHistory {
    /// Draws the margins as a line of eight block heights. The upper ends of the lower seven are
    /// 2^-6, 2^-4, 2^-2, 0.5, 0.75, 0.9 and 1, so only margins above the limit have the full
    /// height. `x` marks a failure without a margin, a dot other results without one.
    pub fn sparkline(&self) -> String {
        const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        const ENDS: [f64; 7] = [1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 0.75, 0.9, 1.0];
        let block = |point: &HistoryPoint| match point.margin {
            Some(margin) => BLOCKS[ENDS.iter().take_while(|&&end| margin > end).count()],
            None if matches!(point.status.as_str(), "Pass" | "QualityWarning" | "NotSupported" | "Undetermined") => '·',
            None => 'x',
        };
        self.points.iter().map(block).collect()
    }

    /// Returns true if a status or failure class changed, or the margin by more than 5 %.
    pub fn has_changed(&self) -> bool {
        let state = |point: &HistoryPoint| (point.status.clone(), point.classes.clone());
        let factor = |a: f64, b: f64| a.max(b) > 1.05 * a.min(b) && a.max(b) > 0.01;
        self.points.windows(2).any(|pair| {
            let margins = pair[0].margin.zip(pair[1].margin);
            state(&pair[0]) != state(&pair[1]) || margins.is_some_and(|(a, b)| factor(a, b))
        })
    }
}

/// Formats histories as text: a sparkline for each case, and below it each change with its driver.
pub fn text(courses: &[CaseHistory]) -> String {
    let mut text = String::new();
    let mut device = "";
    let mut sorted: Vec<&CaseHistory> = courses.iter().collect();
    sorted.sort_by(|a, b| (&a.device, &a.case).cmp(&(&b.device, &b.case)));
    for course in sorted {
        if course.device != device {
            device = &course.device;
            _ = writeln!(text, "{device}");
        }
        _ = writeln!(text, "  {}  {}", course.sparkline(), course.case);
        let mut before: Option<&HistoryPoint> = None;
        for point in &course.points {
            let same =
                |b: &HistoryPoint| b.status == point.status && b.classes == point.classes && b.margin == point.margin;
            if before.is_none_or(|before| !same(before)) {
                let value = point.margin.map_or_else(String::new, |value| format!(" {}", margin(value)));
                let classes = if point.classes.is_empty() { String::new() } else { format!(" ({})", point.classes) };
                _ = writeln!(text, "      {}  {}{classes}{value}  {}", point.started, point.status, point.driver);
            }
            before = Some(point);
        }
    }
    text
}

/// Draws histories as SVG charts: margins by run with the days of the first and the last one, a
/// dashed line at the limit, and driver names where they change. A case without margins has no
/// chart.
pub fn svg(courses: &[CaseHistory]) -> String {
    const WIDTH: f64 = 900.0;
    const ROW: f64 = 122.0;
    const LEFT: f64 = 60.0;
    const TOP: f64 = 30.0;
    let has_margin = |course: &&CaseHistory| course.points.iter().any(|point| point.margin.is_some());
    let courses: Vec<&CaseHistory> = courses.iter().filter(has_margin).collect();
    let height = ROW * courses.len().max(1) as f64 + 10.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    if courses.is_empty() {
        _ = writeln!(text, "<text x=\"4\" y=\"22\" font-size=\"12\">none of the cases has a margin</text>");
    }
    for (row, course) in courses.iter().enumerate() {
        let top = ROW * row as f64 + TOP;
        let (low, high, floor) = (-8.0, 3.0, top + ROW - 57.0);
        let y = |margin: f64| floor - (floor - top) * (margin.max(1e-9).log2().clamp(low, high) - low) / (high - low);
        let step = (WIDTH - LEFT - 20.0) / course.points.len().max(2).saturating_sub(1) as f64;
        let x = |i: usize| LEFT + step * i as f64;
        _ = writeln!(
            text,
            "<text x=\"4\" y=\"{}\" font-size=\"12\">{} ({})</text>",
            top - 8.0,
            escape(&course.case),
            escape(&course.device)
        );
        let limit = y(1.0);
        _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{limit}\" y2=\"{limit}\" stroke=\"#c11f2a\" stroke-dasharray=\"4 3\"/>",
            WIDTH - 20.0
        );
        for (value, tick) in [(low, "2^-8"), (-4.0, "2^-4"), (0.0, "1"), (high, "2^3")] {
            let at = y(value.exp2());
            _ = writeln!(
                text,
                "<line x1=\"{}\" x2=\"{LEFT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#5b6570\"/><text x=\"{}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{tick}</text>",
                LEFT - 4.0,
                LEFT - 7.0,
                at + 3.0
            );
        }
        let middle = (top + floor) / 2.0;
        _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{LEFT}\" y1=\"{top}\" y2=\"{floor}\" stroke=\"#5b6570\"/><text x=\"12\" y=\"{middle}\" \
             text-anchor=\"middle\" transform=\"rotate(-90 12 {middle})\">error / bound</text>"
        );
        let day = |point: &HistoryPoint| escape(point.started.get(..10).unwrap_or(&point.started));
        let last = course.points.len() - 1;
        for (i, anchor) in [(0, "start"), (last, "end")].into_iter().take(if last > 0 { 2 } else { 1 }) {
            _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\" fill=\"#5b6570\">{}</text>",
                x(i),
                floor + 28.0,
                day(&course.points[i])
            );
        }
        let points: Vec<(usize, f64)> =
            course.points.iter().enumerate().filter_map(|(i, p)| Some((i, p.margin?))).collect();
        let line: Vec<String> = points.iter().map(|&(i, m)| format!("{:.1},{:.1}", x(i), y(m))).collect();
        _ = writeln!(text, "<polyline fill=\"none\" stroke=\"#0b62c4\" points=\"{}\"/>", line.join(" "));
        for &(i, m) in &points {
            let colour = if m > 1.0 { "#c11f2a" } else { "#0b62c4" };
            let point = &course.points[i];
            let title = escape(&format!("{} {} {} {}", point.started, point.driver, point.status, margin(m)));
            _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{title}</title></circle>",
                x(i),
                y(m)
            );
        }
        let mut driver = "";
        for (i, point) in course.points.iter().enumerate().filter(|(_, p)| !p.driver.is_empty()) {
            if point.driver != driver {
                driver = &point.driver;
                let at = x(i);
                if i > 0 {
                    _ = writeln!(
                        text,
                        "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{floor}\" stroke=\"#5b6570\" stroke-dasharray=\"1 3\"/>"
                    );
                }
                _ = writeln!(
                    text,
                    "<text x=\"{at:.1}\" y=\"{}\" fill=\"#5b6570\">{}</text>",
                    floor + 14.0,
                    escape(driver)
                );
            }
        }
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, folder_of, run};
    use assay_events::{CaseResult, RunInfo, Status};

    fn add(
        dir: &Path,
        history: &mut History,
        day: u32,
        driver: &str,
        status: Status,
        margin: Option<f64>,
    ) -> Result<usize, HistoryError> {
        let mut info = RunInfo { started: format!("2026-11-{day:02}T03:00:00Z"), ..run(2) };
        info.device.driver_info = driver.to_owned();
        let mut one = case("p.f32.a", status);
        if let Some(worst) = &mut one.worst {
            worst.margin = margin;
        }
        let path = folder_of(&dir.join(day.to_string()), info, &[one, case("p.f16.b", Status::Pass)], false);
        Ok(history.add(&[ResultDir::open(path)?])?[0])
    }

    #[test]
    fn a_history_follows_margins_across_drivers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.sqlite");
        assert!(matches!(History::open(&path, false), Err(HistoryError::Missing(_))));
        let mut history = History::open(&path, true).unwrap();
        for (day, driver, status, margin) in [
            (3, "Mesa 25", Status::Fail, Some(f64::INFINITY)),
            (1, "Mesa 23", Status::Pass, Some(0.01)),
            (2, "Mesa 24", Status::Pass, Some(0.95)),
            (4, "Mesa 26", Status::Crash, None),
        ] {
            assert_eq!(add(dir.path(), &mut history, day, driver, status, margin).unwrap(), 2);
        }
        let again = add(dir.path(), &mut history, 2, "Mesa 24", Status::Pass, None).unwrap_err().to_string();
        assert!(again.contains("already has the run of test device that started at 2026-11-02T03:00:00Z"), "{again}");
        // Of several runs, either all or none are added.
        let other = RunInfo { started: "2026-11-05T03:00:00Z".to_owned(), ..run(1) };
        let other = folder_of(&dir.path().join("5"), other, &[case("p.f32.a", Status::Fail)], false);
        let both = [ResultDir::open(other).unwrap(), ResultDir::open(dir.path().join("2")).unwrap()];
        assert!(history.add(&both).is_err());
        // A case that was cut short has no result.
        let info = RunInfo { started: "2026-11-06T03:00:00Z".to_owned(), ..run(1) };
        let cut = CaseResult { partial: true, ..case("p.f32.a", Status::Pass) };
        let cut = folder_of(&dir.path().join("6"), info, &[cut], false);
        assert_eq!(history.add(&[ResultDir::open(cut).unwrap()]).unwrap(), [0]);
        drop(history);
        let history = History::open(&path, false).unwrap();
        let courses = history.case_histories(&[NameFilter::new("p.f32")]).unwrap();
        assert_eq!(courses.len(), 1);
        assert_eq!(courses[0].sparkline(), "▁▇█x");
        assert!(courses[0].has_changed());
        let text = text(&courses);
        assert!(text.starts_with("test device\n  ▁▇█x  p.f32.a\n"), "{text}");
        assert!(text.contains("2026-11-03T03:00:00Z  Fail (FewUlp) inf  testpipe Mesa 25"), "{text}");
        let picture = svg(&courses);
        assert_eq!(picture.matches("<circle").count(), 3);
        assert!(
            picture.contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"132\" "),
            "{picture}"
        );
        assert!(picture.contains(">error / bound</text>") && picture.contains(">2^-4</text>"), "{picture}");
        for day in ["2026-11-01", "2026-11-04"] {
            assert!(picture.contains(&format!(">{day}</text>")), "{picture}");
        }
        roxmltree::Document::parse(&picture).unwrap();
        assert!(svg(&[]).contains("none of the cases has a margin"));
        let all = history.case_histories(&[]).unwrap();
        assert_eq!(all.len(), 2);
        assert!(!all[0].has_changed(), "the case that is always the same");
    }

    #[test]
    fn a_run_with_two_results_of_a_case_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let cases = [case("p.f32.a", Status::Pass), case("p.f32.b", Status::Pass), case("p.f32.a", Status::Fail)];
        let folder = folder_of(&dir.path().join("run"), run(3), &cases, false);
        let mut history = History::open(dir.path().join("history.sqlite"), true).unwrap();
        let refused = history.add(&[ResultDir::open(&folder).unwrap()]).unwrap_err().to_string();
        assert!(refused.contains("results.jsonl has two results of `p.f32.a`"), "{refused}");
        assert!(history.case_histories(&[]).unwrap().is_empty(), "nothing of it was added");
    }

    #[test]
    fn a_damaged_history_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.sqlite");
        let mut history = History::open(&path, true).unwrap();
        let cases: Vec<CaseResult> = (0..500).map(|at| case(&format!("p.f32.{at}"), Status::Pass)).collect();
        let folder = folder_of(&dir.path().join("run"), run(500), &cases, false);
        assert_eq!(history.add(&[ResultDir::open(&folder).unwrap()]).unwrap(), [500]);
        drop(history);
        let whole = std::fs::read(&path).unwrap();
        let pages = whole.len() / 4096;
        assert!(pages > 8, "{pages}");
        // Opening a history does not query the table of the last page.
        for page in [pages / 2, pages - 1] {
            let mut bytes = whole.clone();
            bytes[page * 4096..][..4096].fill(0x5a);
            std::fs::write(&path, bytes).unwrap();
            for create in [false, true] {
                let refused = History::open(&path, create).unwrap_err().to_string();
                assert!(refused.contains("history.sqlite: ") && refused.contains("damaged ("), "{refused}");
            }
        }
        std::fs::write(&path, whole).unwrap();
        assert_eq!(History::open(&path, false).unwrap().case_histories(&[]).unwrap().len(), 500);
    }

    #[test]
    fn a_file_that_is_not_a_history_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text ".repeat(1000)).unwrap();
        assert!(History::open(&path, true).unwrap_err().to_string().contains("file is not a database"));
        let path = dir.path().join("other.sqlite");
        Connection::open(&path).unwrap().execute_batch("create table t (x)").unwrap();
        assert!(History::open(&path, true).unwrap_err().to_string().contains("not a history of Assay"));
        let path = dir.path().join("later.sqlite");
        drop(History::open(&path, true).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
        assert!(History::open(&path, true).unwrap_err().to_string().contains("version 9 is newer"));
    }
}
