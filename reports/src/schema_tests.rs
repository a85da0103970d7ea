//! Tests of the schemas in `reports/schema`, published for other readers of `results.jsonl`,
//! `causes.json`, `atlas.json` and `assay table --json`.

use crate::{
    causes::CauseCollector,
    test_events::{case, run},
};
use assay_events::{Atlas, CauseList, Event, PrecisionTable, SCHEMA, Status};
use serde_json::Value;
use std::fs;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/results.schema.json");
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/table.schema.json");
const ATLAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/atlas.schema.json");
const CAUSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/causes.schema.json");

/// Validates a value against a schema, for the keywords that occur in the schemas of events.
fn check(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{what}: {value} against {schema}"));
    for (key, rule) in schema.as_object().into_iter().flatten() {
        let list = || rule.as_array().into_iter().flatten();
        let fine = match key.as_str() {
            "$ref" => {
                let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a reference to $defs");
                check(value, &root["$defs"][name], root)?;
                true
            }
            "oneOf" => list().filter(|each| check(value, each, root).is_ok()).count() == 1,
            "anyOf" => list().any(|each| check(value, each, root).is_ok()),
            "enum" => list().any(|each| each == value),
            "const" => rule == value,
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a name of a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    other => panic!("unknown type {other}"),
                };
                rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        check(value, rule, root)?;
                    }
                }
                true
            }
            "additionalProperties" if rule.is_object() => {
                value.as_object().into_iter().flatten().try_for_each(|(_, value)| check(value, rule, root))?;
                true
            }
            "required" => list().all(|name| value.get(name.as_str().expect("a name")).is_some()),
            "items" => {
                value.as_array().into_iter().flatten().try_for_each(|value| check(value, rule, root))?;
                true
            }
            "minItems" => value.as_array().is_some_and(|list| list.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_some_and(|list| list.len() as u64 <= rule.as_u64().unwrap()),
            // It says nothing about other values than numbers.
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "$schema" | "$defs" | "title" | "description" | "format" | "default" | "maximum" => true,
            other => panic!("this test does not know the keyword {other}"),
        };
        if !fine {
            return fail(key);
        }
    }
    Ok(())
}

#[test]
fn the_published_schema_is_that_of_the_events() {
    must_be_published(PATH, &schemars::schema_for!(Event));
    must_be_published(CAUSES, &schemars::schema_for!(CauseList));
    must_be_published(ATLAS, &schemars::schema_for!(Atlas));
    must_be_published(TABLE, &schemars::schema_for!(PrecisionTable));
}

fn must_be_published(path: &str, schema: &schemars::Schema) {
    let schema = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("ASSAY_WRITE_SCHEMA").is_some() {
        fs::write(path, &schema).unwrap();
    }
    let published = fs::read_to_string(path).unwrap_or_default();
    assert!(
        published == schema,
        "the types differ from {path}: run this test with ASSAY_WRITE_SCHEMA=1 to write it again, and raise SCHEMA if a \
         reader of the old form would misread the new one"
    );
}

#[test]
fn causes_are_valid_and_damaged_ones_are_not() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(CAUSES).unwrap()).unwrap();
    let mut infinite = case("p.c", Status::Fail);
    infinite.classes[0].regions[0].example.margin = Some(f64::INFINITY);
    let mut causes = CauseCollector::default();
    for case in [infinite, case("p.d", Status::Crash)] {
        causes.add_event(&Event::CaseFinished(Box::new(case)), true);
    }
    let list = CauseList { schema: SCHEMA, causes: causes.causes().list };
    let value = serde_json::to_value(&list).unwrap();
    check(&value, &schema, &schema).unwrap();
    assert_eq!(value["causes"][0]["worst_margin"], "inf");
    assert_eq!(serde_json::from_value::<CauseList>(value.clone()).unwrap(), list);
    let mut damaged = value;
    damaged["causes"][1]["status"] = "Fine".into();
    assert!(check(&damaged, &schema, &schema).is_err());
}

#[test]
fn an_atlas_is_valid_and_a_damaged_one_is_not() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(ATLAS).unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(crate::atlas::tests::site(dir.path()).join("atlas.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    check(&value, &schema, &schema).unwrap();
    let atlas: Atlas = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_value(&atlas).unwrap(), value);
    let mut damaged = value;
    damaged["results"][0]["status"] = "Fine".into();
    assert!(check(&damaged, &schema, &schema).is_err());
}

#[test]
fn events_are_valid_and_damaged_ones_are_not() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(PATH).unwrap()).unwrap();
    let mut infinite = case("p.c", Status::Fail);
    infinite.worst.as_mut().unwrap().margin = Some(f64::INFINITY);
    let events = [
        Event::RunStarted(Box::new(run(3))),
        Event::CaseFinished(Box::new(case("p.a", Status::Pass))),
        Event::CaseFinished(Box::new(case("p.b", Status::NotSupported))),
        Event::CaseFinished(Box::new(infinite)),
        Event::RunFinished { interrupted: false, wall: 1.0 },
    ];
    let values: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    for value in &values {
        check(value, &schema, &schema).unwrap();
    }
    type Damage = fn(&mut Value);
    let damages: [(usize, Damage); 5] = [
        (1, |value| value["status"] = "Fine".into()),
        (1, |value| value["name"] = 3.into()),
        (0, |value| _ = value.as_object_mut().unwrap().remove("schema")),
        (3, |value| value["worst"]["margin"] = "infinite".into()),
        (4, |value| value["event"] = "run_ended".into()),
    ];
    for (index, damage) in damages {
        let mut value = values[index].clone();
        damage(&mut value);
        assert!(check(&value, &schema, &schema).is_err(), "{value}");
    }
}
