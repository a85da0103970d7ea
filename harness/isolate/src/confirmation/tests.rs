use super::*;
use assay_events::CaseResult;

fn event(status: Status) -> Event {
    let reason = Some(format!("{status:?}"));
    Event::CaseFinished(Box::new(CaseResult { reason, ..CaseResult::not_run("p.x".to_owned(), status, 0) }))
}

fn name(case: u32) -> String {
    format!("p.{case}")
}

/// Runs a confirmation in which the case ends with `does(cases before it)`. Returns the number of
/// runs, and the result.
fn confirm_case(
    first: Status,
    own: bool,
    before: Vec<u32>,
    does: impl Fn(&[u32]) -> Status,
) -> (usize, Status, Repeat) {
    let mut confirmation = Confirmation::new(9, event(first), own, before);
    let mut next = ConfirmationStep::Run(Vec::new());
    for runs in 0.. {
        assert!(runs < 100, "a confirmation ends");
        match next {
            ConfirmationStep::Run(prefix) => next = confirmation.next(Some(event(does(&prefix))), &name),
            ConfirmationStep::AwaitSuspects => next = confirmation.run_after_predecessors(),
            ConfirmationStep::Finish(event) => {
                let Event::CaseFinished(case) = event else { panic!("{event:?}") };
                return (runs, case.status, *case.repeat.expect("what came of it"));
            }
        }
    }
    unreachable!()
}

#[test]
fn a_failure_that_repeats_alone_is_confirmed() {
    for own in [true, false] {
        let (_, status, repeat) = confirm_case(Status::Crash, own, vec![1, 2], |_| Status::Crash);
        assert_eq!((status, repeat.verdict, repeat.runs.len()), (Status::Crash, RepeatVerdict::Same, 2));
        assert_eq!((repeat.runs[0].after, repeat.runs[1].after), (2, 0));
    }
    // The run of a suspect alone is its first result of its own, and is confirmed as such.
    let (_, status, repeat) = confirm_case(Status::Crash, false, vec![1, 2], |_| Status::Fail);
    assert_eq!((status, repeat.verdict, repeat.runs.len()), (Status::Fail, RepeatVerdict::Same, 2));
    assert!(repeat.runs.iter().all(|run| run.status == Status::Fail && run.after == 0));
}

#[test]
fn a_failure_that_does_not_repeat_is_flaky() {
    let (_, status, repeat) = confirm_case(Status::Fail, true, vec![1, 2], |_| Status::Pass);
    assert_eq!((status, repeat.verdict, repeat.runs.len()), (Status::Fail, RepeatVerdict::Flaky, 3));
    let (_, status, repeat) = confirm_case(Status::Fail, true, Vec::new(), |_| Status::Pass);
    assert_eq!((status, repeat.verdict, repeat.runs.len()), (Status::Fail, RepeatVerdict::Flaky, 2));
    let (_, status, repeat) = confirm_case(Status::Fail, true, vec![1], |_| Status::Crash);
    assert_eq!((status, repeat.verdict), (Status::Fail, RepeatVerdict::Flaky));
}

#[test]
fn a_failure_that_repeats_by_chance_after_other_cases_is_flaky() {
    for failing in 0..6 {
        let runs = std::cell::Cell::new(0);
        // It passes alone, and then fails once, whatever precedes it.
        let does = |prefix: &[u32]| {
            runs.set(runs.get() + 1);
            if !prefix.is_empty() && runs.get() == 2 + failing { Status::Fail } else { Status::Pass }
        };
        let (_, status, repeat) = confirm_case(Status::Fail, true, (0..20).collect(), does);
        assert_eq!((status, repeat.verdict), (Status::Fail, RepeatVerdict::Flaky), "{failing}");
    }
}

/// Each run of a search takes the time limit again.
#[test]
fn a_case_that_does_not_end_is_rerun_after_few_cases() {
    let after = |culprit: u32| {
        let does = move |prefix: &[u32]| if prefix.contains(&culprit) { Status::Timeout } else { Status::Pass };
        confirm_case(Status::Timeout, true, (10..310).collect(), does)
    };
    let (runs, _, repeat) = after(305);
    assert_eq!((repeat.verdict, &repeat.after[..]), (RepeatVerdict::InCompany, &["p.305".to_owned()][..]));
    assert!(runs < 10, "{runs}");
    let (runs, _, repeat) = after(20);
    assert_eq!((repeat.verdict, runs, repeat.runs[0].after), (RepeatVerdict::Flaky, 2, 300));
}

#[test]
fn the_fewest_cases_are_found_that_make_it_fail() {
    for length in [1, 2, 3, 7, 64, MAX_PREDECESSORS as u32] {
        for culprit in [0, length / 3, length - 1] {
            let does = |prefix: &[u32]| if prefix.contains(&culprit) { Status::Fail } else { Status::Pass };
            let (runs, status, repeat) = confirm_case(Status::Fail, true, (0..length).collect(), does);
            assert_eq!((status, repeat.verdict), (Status::Fail, RepeatVerdict::InCompany));
            assert_eq!(repeat.after, [name(culprit)], "{length}");
            assert!(runs <= 16, "{runs} runs for {length}");
        }
    }
    let both =
        |prefix: &[u32]| if [3, 7].iter().all(|case| prefix.contains(case)) { Status::Fail } else { Status::Pass };
    let (_, _, repeat) = confirm_case(Status::Fail, true, (0..10).collect(), both);
    assert_eq!(repeat.after, (3..10).map(name).collect::<Vec<_>>());
    // For a very long list of predecessors, the last ones are tried.
    let late = |prefix: &[u32]| if prefix.contains(&4_990) { Status::Fail } else { Status::Pass };
    assert_eq!(confirm_case(Status::Fail, true, (0..5_000).collect(), late).2.after, [name(4_990)]);
}

#[test]
fn a_suspect_that_did_nothing_is_acquitted() {
    let mut confirmation = Confirmation::new(9, event(Status::Crash), false, vec![1]);
    assert!(confirmation.is_alone());
    assert_eq!(confirmation.next(Some(event(Status::Pass)), &name), ConfirmationStep::AwaitSuspects);
    assert_eq!(confirmation.accept_run_alone(), ConfirmationStep::Finish(event(Status::Pass)));
}

/// Returns a result of so many inputs in which these chunks failed with these bits.
fn failed(inputs: u64, chunks: &[(u64, &str)]) -> Event {
    let failed = |&(chunk, bits): &(u64, &str)| FailedChunk { chunk, inputs: 1, fingerprint: bits.to_owned() };
    let failed_chunks: Vec<FailedChunk> = chunks.iter().map(failed).collect();
    let status = if chunks.is_empty() { Status::Pass } else { Status::Fail };
    let result = CaseResult::not_run("p.x".to_owned(), status, 0);
    Event::CaseFinished(Box::new(CaseResult { inputs_tested: inputs, failed_chunks, ..result }))
}

#[test]
fn chunks_in_which_something_failed_confirm_it_if_the_same_bits_come_out() {
    let first = failed(100, &[(2, "a"), (7, "b")]);
    let begin = || {
        let confirmation = Confirmation::new(9, first.clone(), true, vec![1, 2]);
        assert_eq!(confirmation.chunks(), Some(vec![2, 7]));
        confirmation
    };
    let ended = |next: ConfirmationStep| {
        let ConfirmationStep::Finish(Event::CaseFinished(case)) = next else { panic!("{next:?}") };
        assert_eq!((case.status, case.inputs_tested), (Status::Fail, 100), "the result is that of the whole case");
        let repeat = case.repeat.expect("what came of it");
        (repeat.verdict, repeat.runs.iter().map(|run| run.inputs).collect::<Vec<_>>())
    };
    let same = failed(20, &[(2, "a"), (7, "b")]);
    assert_eq!(ended(begin().next(Some(same), &name)), (RepeatVerdict::Same, vec![100, 20]));
    // After any difference, or the end of the process, the whole case is run.
    let crashed = event(Status::Crash);
    for other in [failed(20, &[(2, "a"), (7, "c")]), failed(20, &[(2, "a")]), failed(20, &[]), crashed] {
        let mut confirmation = begin();
        assert_eq!(confirmation.next(Some(other.clone()), &name), ConfirmationStep::Run(Vec::new()));
        assert_eq!(confirmation.chunks(), None);
        assert!(confirmation.is_alone());
        // Its own earlier chunks may be the reason: it fails as a whole each time.
        assert_eq!(ended(confirmation.next(Some(first.clone()), &name)).0, RepeatVerdict::Same);
        let mut confirmation = begin();
        confirmation.next(Some(other), &name);
        let (verdict, runs) = ended(confirmation.next(Some(failed(100, &[(2, "a"), (7, "c")])), &name));
        assert_eq!((verdict, runs.len()), (RepeatVerdict::Flaky, 3));
    }
    // It passes alone, so it is run after its predecessors as usual.
    let mut confirmation = begin();
    assert_eq!(confirmation.next(Some(failed(20, &[])), &name), ConfirmationStep::Run(Vec::new()));
    assert_eq!(confirmation.next(Some(failed(100, &[])), &name), ConfirmationStep::Run(vec![1, 2]));
    assert_eq!(confirmation.chunks(), None);
}

#[test]
fn a_case_of_few_chunks_is_run_again_once() {
    for (again, verdict) in [("a", RepeatVerdict::Same), ("b", RepeatVerdict::Flaky)] {
        let mut confirmation = Confirmation::new(9, failed(10, &[(0, "a")]), true, Vec::new());
        assert_eq!(confirmation.chunks(), Some(vec![0]));
        let ConfirmationStep::Finish(Event::CaseFinished(case)) =
            confirmation.next(Some(failed(10, &[(0, again)])), &name)
        else {
            panic!("it is known")
        };
        let repeat = case.repeat.expect("what came of it");
        assert_eq!((repeat.verdict, repeat.runs.len()), (verdict, 2));
    }
}

#[test]
fn a_failure_of_a_suspect_run_alone_is_confirmed_by_its_chunks() {
    let mut confirmation = Confirmation::new(9, event(Status::Crash), false, vec![1]);
    assert_eq!(confirmation.chunks(), None);
    assert_eq!(confirmation.next(Some(failed(100, &[(3, "a")])), &name), ConfirmationStep::Run(Vec::new()));
    assert_eq!(confirmation.chunks(), Some(vec![3]));
}
