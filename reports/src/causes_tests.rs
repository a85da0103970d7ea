use super::*;
use crate::test_events::{case, check};
use assay_events::{Blame, BlameExample, ClassCount, RegionCount};

/// A failing case of `Frexp` with failing scalars of these classes and regions.
fn failing(name: &str, types: &str, groups: &[(&str, &[&str])]) -> CaseResult {
    let base = case(name, Status::Fail);
    let example = base.worst.clone().unwrap();
    let region = |region: &&str| RegionCount { region: (*region).to_owned(), count: 2, example: example.clone() };
    let classes = groups.iter().map(|(class, regions)| ClassCount {
        status: Status::Fail,
        class: (*class).to_owned(),
        count: 2 * regions.len() as u64,
        examples: vec![example.clone()],
        regions: regions.iter().map(region).collect(),
    });
    CaseResult { classes: classes.collect(), instruction: "Frexp".to_owned(), types: types.to_owned(), ..base.clone() }
}

fn collect(cases: &[CaseResult]) -> Causes {
    let mut collector = CauseCollector::default();
    for case in cases {
        collector.add_event(&Event::CaseFinished(Box::new(case.clone())), true);
    }
    collector.causes()
}

fn titles(cases: &[CaseResult]) -> Vec<String> {
    collect(cases).list.into_iter().map(|cause| cause.title).collect()
}

#[test]
fn failures_of_one_defect_in_several_formats_and_classes_are_one_cause() {
    let both: &[(&str, &[&str])] = &[("FlushedIn", &["Denormal"]), ("Wild", &["Denormal"])];
    let cases = [
        failing("precision.f16.frexp.vec2.default", "vec2<f16>, vec2<i32> <- vec2<f16>", both),
        failing("precision.f32.frexp.scalar.default", "f32, i32 <- f32", both),
        failing("precision.f64.frexp.scalar.default", "f64, i32 <- f64", &both[..1]),
    ];
    let pass = CaseResult { instruction: "Frexp".to_owned(), ..case("precision.f32.frexp.vec4.default", Status::Pass) };
    let mut all = cases.to_vec();
    all.push(pass);
    let causes = collect(&all);
    assert_eq!(causes.list.len(), 1, "{:?}", causes.list);
    let cause = &causes.list[0];
    assert_eq!(cause.title, "Frexp: denormal operands, FlushedIn and Wild");
    assert_eq!(crate::cause_text::extent(cause), "3 of 4 cases, f16 f32 f64");
    assert_eq!((cause.cases, cause.checked_cases, cause.scalars), (3, 4, 10));
    assert_eq!(cause.representative.case, "precision.f32.frexp.scalar.default", "a scalar, of the most common width");
}

#[test]
fn regions_are_apart_unless_the_class_fails_for_moderate_operands() {
    let apart = failing("precision.f32.a", "f32 <- f32", &[("Nan", &["Infinite", "Zero"])]);
    assert_eq!(titles(&[apart]), ["Frexp: infinite operands, Nan", "Frexp: zero operands, Nan"]);
    let everywhere = failing("precision.f32.a", "f32 <- f32", &[("Nan", &["Infinite", "Moderate"])]);
    assert_eq!(titles(&[everywhere]), ["Frexp: moderate and other operands, Nan"]);
    let other_case = failing("precision.f32.b", "f32 <- f32", &[("Wild", &["Zero"])]);
    let both = failing("precision.f32.a", "f32 <- f32", &[("SignOfZero", &["Zero"])]);
    assert_eq!(titles(&[other_case, both]).len(), 2, "different cases fail in different classes");
}

#[test]
fn paths_statuses_and_reasons_are_apart() {
    let lowered = CaseResult { path: "lowered".to_owned(), ..case("tile.a", Status::Fail) };
    let crash = |name: &str, reason: &str| CaseResult { reason: Some(reason.to_owned()), ..case(name, Status::Crash) };
    let cases = [
        case("tile.b", Status::Fail),
        lowered,
        crash("tile.c", "signal 11 at 0x7f00"),
        crash("tile.d", "signal 11 at 0x8123"),
        crash("tile.e", "exit code 1"),
    ];
    let titles = titles(&cases);
    assert_eq!(
        titles,
        [
            "Exp2 (tile): moderate operands, FewUlp",
            "Exp2 (tile): moderate operands, FewUlp, lowered",
            "Exp2 (tile): Crash, signal 11 at 0x7f00",
            "Exp2 (tile): Crash, exit code 1",
        ]
    );
}

/// Merged parts and resumed runs have results in other orders.
#[test]
fn causes_do_not_depend_on_the_order_of_the_results() {
    let groups: [&[(&str, &[&str])]; 4] = [
        &[("FewUlp", &["Moderate", "Large"]), ("Wild", &["Large"])],
        &[("Wild", &["Large", "Nan"])],
        &[("FewUlp", &["Large"])],
        &[("Nan", &["Nan"]), ("Wild", &["Nan"])],
    ];
    let mut cases: Vec<CaseResult> = (0..12)
        .map(|n| failing(&format!("p.f32.{n}"), "f32 <- f32", groups[n % 4]))
        .chain([case("p.f32.crash", Status::Crash)])
        .collect();
    let expected = collect(&cases);
    for turn in 0..cases.len() {
        cases.rotate_left(1);
        cases.swap(turn, 3);
        assert_eq!(collect(&cases).list, expected.list);
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_cases() {
    let mut collector = CauseCollector::default();
    for n in 0..5_000 {
        let event = Event::CaseFinished(Box::new(case(&format!("p.f32.{n}"), Status::Fail)));
        let added = collector.add_event(&event, n != 0).unwrap();
        assert_eq!(added.is_new, n == 0);
    }
    assert_eq!((collector.groups.len(), collector.sets.len(), collector.checked.len()), (1, 1, 1));
    let causes = collector.causes();
    assert_eq!((causes.list[0].cases, causes.list[0].unexpected), (5_000, 4_999));
    assert_eq!(causes.list[0].representative.case, "p.f32.1", "the least name of an unexpected failure");
}

#[test]
fn a_check_is_grouped_by_its_first_wrong_instruction() {
    let blame = |name: &str| Blame {
        instruction: 3,
        name: name.to_owned(),
        place: "a.wgsl:3:1".to_owned(),
        wrong: 1,
        recorded: 2,
        example: BlameExample {
            invocation: 0,
            operands: Vec::new(),
            component: 0,
            got: "0x00000000".to_owned(),
            permitted: Vec::new(),
            scalar: "f32".to_owned(),
        },
    };
    let failing = |blamed| {
        let base = check(Status::Fail);
        let example = base.mismatches[0].example();
        let classes = vec![ClassCount {
            status: Status::Fail,
            class: "Wild".to_owned(),
            count: 2,
            examples: vec![example],
            regions: Vec::new(),
        }];
        CheckResult { blamed, classes, ..base }
    };
    let mut collector = CauseCollector::default();
    for blamed in [vec![blame("OpFAdd"), blame("OpFMul")], vec![blame("OpFAdd")], Vec::new()] {
        collector.add_event(&Event::CheckFinished(Box::new(failing(blamed))), true);
    }
    let causes = collector.causes().list;
    let lines: Vec<(&str, u64)> = causes.iter().map(|cause| (cause.title.as_str(), cause.cases)).collect();
    assert_eq!(lines, [("OpFAdd: Wild", 2), ("check without a traced instruction: Wild", 1)]);
}
