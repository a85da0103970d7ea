//! Import cycles between the modules of a crate.

use crate::crates::{crate_folders, name_of};
use crate::module_graph::{ModulePath, cycles, graph};
use std::collections::BTreeSet;
use std::fs;

/// A cycle that is known, and why it is there.
struct KnownCycle {
    crate_name: &'static str,
    /// Its modules, as paths below the crate root.
    modules: &'static [&'static str],
    reason: &'static str,
}

const KNOWN: &[KnownCycle] = &[
    KnownCycle {
        crate_name: "check",
        modules: &[
            "bundle",
            "check",
            "check_run",
            "observed_choices",
            "parameter_search",
            "subgroup_control",
            "workgroup_sample",
        ],
        reason: "methods of `Check`, one topic a file; the rounds in `check_run` call each of them",
    },
    KnownCycle {
        crate_name: "check",
        modules: &["amber::amber_script", "amber::pipeline"],
        reason: "the parser of a script and that of its pipelines, which share the parser's state",
    },
    KnownCycle {
        crate_name: "check",
        modules: &["sequence::run", "sequence::session"],
        reason: "a session starts its run, and the run reads its session",
    },
    KnownCycle {
        crate_name: "check",
        modules: &["instrument::probes", "instrument::recheck", "instrument::subgroup_probes"],
        reason: "a probe is checked by evaluating its instruction again, and a subgroup's by evaluating several probes",
    },
    KnownCycle {
        crate_name: "reports",
        modules: &["case_table", "cause_text", "causes"],
        reason: "a table of cases holds their failures, from which causes and their texts are made",
    },
    KnownCycle {
        crate_name: "events",
        modules: &["check_result", "event"],
        reason: "a result of a check is an event, and consists of the same parts as the result of a case",
    },
    KnownCycle {
        crate_name: "float",
        modules: &["dyadic", "format"],
        reason: "a format's values are dyadic, and a dyadic number is made from bits of a format",
    },
    KnownCycle {
        crate_name: "oracle",
        modules: &["abstract_value", "correlated_set"],
        reason: "an abstract value can be a correlated set, whose members are abstract values",
    },
    KnownCycle {
        crate_name: "oracle",
        modules: &["decode", "program", "run"],
        reason: "`Program` is decoded and run by methods of its own, and both read its parts",
    },
    KnownCycle {
        crate_name: "oracle",
        modules: &["run::expr::build", "run::expr::formula", "run::float"],
        reason: "the bound of an expression and the result of its last operation need each other",
    },
    KnownCycle {
        crate_name: "oracle",
        modules: &["run::images", "run::memory::address"],
        reason: "texels are reached through pointers, and robustness treats the edges of both alike",
    },
    KnownCycle {
        crate_name: "oracle",
        modules: &["sample", "texel"],
        reason: "samples are combined from texels, whose conversion is as accurate as sampling",
    },
    KnownCycle {
        crate_name: "reports",
        modules: &["html::case_details", "html::error_plots", "html::page_data", "html::page_rows"],
        reason: "rows, details and plots of the page refer to each other as its data does",
    },
    KnownCycle {
        crate_name: "reports",
        modules: &["journal", "read", "result_dir"],
        reason: "the writer of a result directory, its journal and its reader share file names and errors",
    },
    KnownCycle {
        crate_name: "reports",
        modules: &["summary_table", "tally"],
        reason: "the table is made from the tally, and groups cases as the tally does",
    },
    KnownCycle {
        crate_name: "shim",
        modules: &["composites", "floats"],
        reason: "a composite value is changed scalar by scalar",
    },
    KnownCycle {
        crate_name: "shim",
        modules: &["fault", "indices"],
        reason: "a fault names its kinds, and a kind makes its change",
    },
    KnownCycle {
        crate_name: "spirv",
        modules: &[
            "tables::builtin",
            "tables::capability",
            "tables::decoration",
            "tables::execution_mode",
            "tables::kinds",
            "tables::masks",
            "tables::values",
        ],
        reason: "generated tables, whose rows name capabilities, and a capability's row is in the table of its kind",
    },
    KnownCycle {
        crate_name: "suite",
        modules: &[
            "bindless::bindless_params",
            "bindless::bindless_program",
            "bindless::bindless_reference",
            "bindless::kernel_builder",
        ],
        reason: "parameters make a program together with its independent reference",
    },
    KnownCycle {
        crate_name: "suite",
        modules: &["gather::gather_params", "gather::gather_reference"],
        reason: "parameters make a program together with its independent reference",
    },
    KnownCycle {
        crate_name: "vulkan",
        modules: &[
            "buffer_memory",
            "device",
            "dispatch_commands",
            "dispatch_slot",
            "image_objects",
            "layout_cache",
            "multisample",
            "pipeline",
            "resource",
            "slot_objects",
        ],
        reason: "objects own the device that made them, and the device makes them",
    },
    KnownCycle {
        crate_name: "vulkan",
        modules: &["features::property_structs", "features::property_tables"],
        reason: "a generated table, and the type of its rows",
    },
    KnownCycle {
        crate_name: "vulkan",
        modules: &["instance", "physical_device"],
        reason: "a physical device keeps the instance that listed it",
    },
    KnownCycle {
        crate_name: "vulkan",
        modules: &["tile::pass_objects", "tile::tile_draw"],
        reason: "the objects of a pass have the pipelines of its draws, which are made for these objects",
    },
];

fn shown(module: &ModulePath) -> String {
    if module.is_empty() { "crate".to_owned() } else { module.join("::") }
}

#[test]
fn modules_import_each_other_in_one_direction() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for folder in crate_folders() {
        let name = name_of(&folder);
        for cycle in cycles(&graph(&folder.join("src"))) {
            let modules: BTreeSet<String> = cycle.iter().map(shown).collect();
            let known = KNOWN.iter().position(|known| {
                known.crate_name == name && modules == known.modules.iter().map(|m| (*m).to_owned()).collect()
            });
            match known {
                Some(index) => _ = used.insert(index),
                None => wrong.push(format!("{name}: {}", modules.into_iter().collect::<Vec<_>>().join(", "))),
            }
        }
    }
    for (index, known) in KNOWN.iter().enumerate().filter(|(index, _)| !used.contains(index)) {
        assert!(!known.reason.is_empty(), "cycle {index} has no reason");
        wrong.push(format!("{}: the cycle of {} is gone or has changed", known.crate_name, known.modules.join(", ")));
    }
    assert!(
        wrong.is_empty(),
        "import cycles that differ from the list in this file; cut new ones, and change the list for smaller ones:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn cycles_are_found_through_reexports_and_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    write(
        "lib.rs",
        "mod a;\nmod b;\nmod c;\nmod d;\n#[cfg(test)]\nmod e;\npub use {b::{B as Renamed, Other}, c::C};\n",
    );
    // Through a re-export with another name, and back through a path in code.
    write("a.rs", "use crate::{Renamed, d};\nfn f() -> Renamed { d::g() }\n");
    write(
        "b/mod.rs",
        "mod inner;\nuse crate::a;\nfn f<'a>(x: &'a str) { let _ = ('\"', \"crate::d\"); inner::f(x) }\n",
    );
    write("b/inner.rs", "// crate::c\nuse super::B;\n");
    // Imports in tests do not count.
    write("c.rs", "use super::b::Other;\n#[cfg(test)]\nmod tests {\n    use crate::d;\n}\n");
    write("d.rs", "use crate::C;\n");
    let found = || -> Vec<Vec<String>> {
        cycles(&graph(folder.path())).iter().map(|cycle| cycle.iter().map(shown).collect()).collect()
    };
    assert_eq!(found(), [["a", "b", "c", "d"]]);
    write("d.rs", "");
    assert_eq!(found(), [["a", "b"]]);
}
