//! Tests of the execution model, and of faults planted in the lowered path, which must all be
//! found.

use super::compare::Comparison;
use super::model::{self, Executor, shuffled};
use super::pass::{Pass, PermittedContents};
use super::{oracle_pass, run_pass};
use crate::Suite as _;
use assay_events::{PICTURE_SIDE, Status};
use assay_exec::{PassContents, StepStage};
use assay_oracle::Tile;
use assay_spirv::tables::{Decoration, Op};

fn pass(name: &str) -> Pass {
    let cases = super::TileShading.cases();
    let case = cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
    case.pass(crate::RunPath::Lowered).expect("a pass").unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn tiles_that_meet_the_render_area_are_covered_in_any_order() {
    let pass = pass("tile.area.inner.tile8x8");
    let tiles = pass.tiles([8, 8]);
    let offsets: Vec<[u32; 2]> = tiles.iter().map(|tile| tile.offset).collect();
    assert_eq!(offsets, [[8, 8]]);
    let offsets: Vec<[u32; 2]> = pass.tiles([7, 5]).iter().map(|tile| tile.offset).collect();
    assert_eq!(offsets, [[7, 10], [14, 10]]);
    let tiles = pass.tiles([1, 1]);
    assert_eq!(tiles.len(), 6 * 5);
    let shuffle = |seed| shuffled(tiles.clone(), seed);
    assert_eq!(shuffle(1), shuffle(1));
    assert_ne!(shuffle(1), shuffle(2));
    let mut back = shuffle(1);
    back.sort_by_key(|tile| (tile.offset[1], tile.offset[0]));
    assert_eq!(back, tiles);
}

/// An executor with one planted fault.
struct FaultyExecutor<'a, E> {
    inner: E,
    pass: &'a Pass,
    fault: Fault,
    first: Option<PermittedContents>,
}

/// Faults of a lowered path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The apron is one texel too narrow: its outermost texels read as zero.
    ApronOffByOne,
    /// The tile is shifted by one texel to the right.
    OffsetOffByOne,
    /// The last two columns of a tile are left out.
    ColumnMissing,
    /// A texel to the right of the tile is changed.
    OutsideTile,
    /// Stores go to the next layer.
    WrongLayer,
    /// Attachments are exchanged.
    WrongAttachment,
    /// Each step sees the contents from before the first one.
    NoBarrier,
    /// Each step runs twice.
    Twice,
    /// The built-in apron is wider (axis 0) or higher (axis 1) than the real one.
    WiderApron(usize),
    /// The built-in tile is lower than the real one.
    LowerTile,
}

impl<E: Executor> Executor for FaultyExecutor<'_, E> {
    type Error = E::Error;

    fn step(&mut self, step: usize, tile: &Tile, memory: &mut PermittedContents) -> Result<(), E::Error> {
        let pass = self.pass;
        if step == 0 {
            self.first = Some(memory.clone());
        }
        let mut tile = *tile;
        let bytes = |attachment: usize, at: [u32; 2], layer: u32| {
            let from = pass.texel_at(attachment, at, layer);
            from..from + pass.texel_bytes(attachment)
        };
        match self.fault {
            Fault::ApronOffByOne => {
                let [near, far] = Tile { apron: tile.apron.map(|n| n.saturating_sub(1)), ..tile }.reach(false);
                for attachment in 0..pass.attachments.len() {
                    for (x, y) in (0..pass.extent[1]).flat_map(|y| (0..pass.extent[0]).map(move |x| (x, y))) {
                        let seen = (near[0]..far[0]).contains(&x) && (near[1]..far[1]).contains(&y);
                        if !seen {
                            memory.contents.attachments[attachment][bytes(attachment, [x, y], 0)].fill(0);
                        }
                    }
                }
            }
            Fault::OffsetOffByOne => tile.offset[0] += 1,
            Fault::ColumnMissing => tile.size[0] -= 2,
            Fault::WiderApron(axis) => tile.apron[axis] += 1,
            Fault::LowerTile => tile.size[1] -= 2,
            Fault::NoBarrier if step > 0 => {
                if let Some(first) = &self.first {
                    memory.contents = first.contents.clone();
                }
            }
            Fault::WrongAttachment => memory.contents.attachments.reverse(),
            _ => {}
        }
        self.inner.step(step, &tile, memory)?;
        match self.fault {
            Fault::ApronOffByOne => {
                // The texels outside the tile, cleared for the loads, are restored.
                let first = self.first.as_ref().expect("a first step");
                let [near, far] = tile.reach(true);
                for attachment in 0..pass.attachments.len() {
                    for (x, y) in (0..pass.extent[1]).flat_map(|y| (0..pass.extent[0]).map(move |x| (x, y))) {
                        let own = (near[0]..far[0]).contains(&x) && (near[1]..far[1]).contains(&y);
                        if !own {
                            let range = bytes(attachment, [x, y], 0);
                            memory.contents.attachments[attachment][range.clone()]
                                .copy_from_slice(&first.contents.attachments[attachment][range]);
                        }
                    }
                }
            }
            Fault::OutsideTile => {
                let [_, end] = tile.reach(true);
                if end[0] < pass.extent[0] {
                    let range = bytes(0, [end[0], end[1] - 1], 0);
                    memory.contents.attachments[0][range.start] ^= 1;
                }
            }
            Fault::WrongLayer => {
                let half = memory.contents.attachments[0].len() / pass.layers as usize;
                memory.contents.attachments[0].rotate_right(half);
            }
            Fault::WrongAttachment => memory.contents.attachments.reverse(),
            Fault::Twice => {
                self.inner.step(step, &tile, memory)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The number of wrong values and of writes outside tiles with a fault.
fn count_wrong(pass: &Pass, fault: Fault) -> (u64, usize) {
    let (comparison, outside) = compare_with_fault(pass, fault);
    (comparison.failing(), outside)
}

/// The comparison with a fault, and the number of writes outside tiles.
fn compare_with_fault(pass: &Pass, fault: Fault) -> (Comparison, usize) {
    let permitted = oracle_pass::permitted(pass, pass.tile, 7).unwrap_or_else(|e| panic!("{e}"));
    let inner = oracle_pass::LoweredOracle::new(pass, [4, 4, 1], |_| ()).unwrap_or_else(|e| panic!("{e}"));
    let mut planted = FaultyExecutor { inner, pass, fault, first: None };
    let left = model::run(pass, &pass.tiles(pass.tile), &mut planted).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
    let comparison =
        run_pass::compare_results(pass, &left, None, &permitted).unwrap_or_else(|e| panic!("{fault:?}: {e}"));
    (comparison, left.outside.len())
}

/// An attachment with a wrong texel is drawn; one without is not.
#[test]
fn wrong_texels_are_drawn() {
    for (name, fault) in [
        ("tile.apron.2x2.image.load.tile8x8", Fault::ApronOffByOne),
        ("tile.rate.dispatch_tile.2x2x1.layers1", Fault::ColumnMissing),
        ("tile.layers.2", Fault::WrongLayer),
        ("tile.attachment.rgba16float.layers3", Fault::OffsetOffByOne),
        ("tile.program.blur.rate4x4", Fault::ApronOffByOne),
    ] {
        let pass = pass(name);
        assert_eq!(compare_with_fault(&pass, Fault::None).0.picture, None, "{name}");
        let (comparison, _) = compare_with_fault(&pass, fault);
        let picture = comparison.picture.unwrap_or_else(|| panic!("{name}: {fault:?} is not drawn"));
        let [width, height] = pass.extent.map(|n| n as usize);
        let shown = [width, height * pass.layers as usize].map(|side| side.min(PICTURE_SIDE));
        assert_eq!([picture.width, picture.height], shown, "{name}");
        assert_eq!(picture.tiles.map(|tiles| tiles.size), Some(pass.tile.map(|n| n as usize)), "{name}");
        assert!(picture.caption.starts_with("attachment "), "{}", picture.caption);
        assert!(picture.png().is_some(), "{name}: no PNG");
    }
}

#[test]
fn every_planted_fault_is_found() {
    use Fault as F;
    for (name, fault) in [
        ("tile.apron.2x2.image.load.tile8x8", F::ApronOffByOne),
        ("tile.apron.4x1.area.load.tile16x6", F::ApronOffByOne),
        ("tile.apron.1x0.area.fetch.tile8x8", F::ApronOffByOne),
        ("tile.program.blur.rate4x4", F::ApronOffByOne),
        ("tile.rate.dispatch_tile.2x2x1.layers1", F::OffsetOffByOne),
        ("tile.rate.dispatch_tile.2x2x1.layers1", F::ColumnMissing),
        ("tile.rate.dispatch_tile.8x8x1.layers1", F::OutsideTile),
        ("tile.area.odd.tile7x5", F::OutsideTile),
        ("tile.layers.2", F::WrongLayer),
        ("tile.rate.dispatch_tile.1x1x2.layers4", F::WrongLayer),
        ("tile.attachments.3", F::WrongAttachment),
        ("tile.apron.1x1.image.load.tile8x8", F::WrongAttachment),
        ("tile.order.mirror.rate2x2", F::NoBarrier),
        ("tile.order.rows.groups", F::NoBarrier),
        ("tile.order.chain.rate8x4", F::NoBarrier),
        ("tile.atomic.add.u32.first", F::Twice),
        ("tile.program.histogram.rate4x4", F::Twice),
        ("tile.program.histogram.rate4x4", F::ColumnMissing),
        ("tile.program.depth_range.groups", F::OffsetOffByOne),
        ("tile.fragment.fetch.coherent.tile", F::OffsetOffByOne),
        ("tile.fragment.mirror.non_coherent", F::ColumnMissing),
        ("tile.fragment.apron.2x2.load", F::ApronOffByOne),
        ("tile.fragment.apron.4x1.fetch", F::ApronOffByOne),
        ("tile.fragment.outputs.2.pass", F::WrongAttachment),
        ("tile.fragment.order.compute.tile", F::NoBarrier),
        ("tile.fragment.order.before_compute.pass", F::NoBarrier),
        ("tile.fragment.order.draws.non_coherent.tile", F::NoBarrier),
        ("tile.fragment.order.rasterization.dynamic.pass", F::NoBarrier),
        ("tile.fragment.order.alternating", F::Twice),
        ("tile.fragment.shaded.tile", F::ColumnMissing),
        ("tile.fragment.program.deferred.pass", F::OutsideTile),
    ] {
        let pass = pass(name);
        assert_eq!(count_wrong(&pass, Fault::None), (0, 0), "{name}: wrong without a fault");
        let (failing, outside) = count_wrong(&pass, fault);
        assert!(failing > 0, "{name}: {fault:?} was not found");
        assert!(outside > 0 || fault != F::OutsideTile, "{name}: {fault:?}");
    }
}

/// Built-ins report another tile.
#[test]
fn built_ins_of_another_tile_are_found() {
    use Fault as F;
    for (name, faults) in [
        (
            "tile.fragment.built_ins.tile",
            &[F::OffsetOffByOne, F::ColumnMissing, F::LowerTile, F::WiderApron(0), F::WiderApron(1)][..],
        ),
        ("tile.apron.2x2.image.load.tile8x8", &[F::OffsetOffByOne, F::WiderApron(0), F::WiderApron(1)]),
    ] {
        let pass = pass(name);
        assert_eq!(count_wrong(&pass, F::None), (0, 0), "{name}: wrong without a fault");
        for fault in faults {
            let (failing, _) = count_wrong(&pass, *fault);
            assert!(failing > 0, "{name}: {fault:?} was not found");
        }
    }
}

/// Replaces all occurrences of a word.
fn exchange(words: &mut [u32], from: u32, to: u32) {
    let found = words.iter_mut().filter(|word| **word == from);
    assert!(found.map(|word| *word = to).count() > 0, "{from:#x} is not there");
}

/// Faults of draws that another executor would not reveal: in rasterisation, fragment inputs, and
/// output locations.
#[test]
fn faults_of_draws_are_found() {
    type Change = fn(&mut Pass);
    type Plant = fn(&mut Vec<u32>);
    const NONE: Plant = |_| ();
    let outside = |pass: &mut Pass| pass.steps[0].stage = StepStage::Fragment { per_tile: true };
    let wider = |pass: &mut Pass| pass.area[1][0] += 1;
    let narrower = |pass: &mut Pass| pass.area = [pass.area[0].map(|n| n + 1), pass.area[1].map(|n| n - 1)];
    // Exchange the first two output locations.
    let locations = |pass: &mut Pass| {
        let words = &mut pass.steps[0].words;
        let start = 4 << 16 | Op::Decorate as u32;
        for at in 0..words.len() - 3 {
            if let [first, _, decoration, location @ (0 | 1)] = words[at..at + 4]
                && (first, decoration) == (start, Decoration::Location.word())
            {
                words[at + 3] = 1 - location;
            }
        }
    };
    // Discard the fragments that should be kept, and keep the others.
    let kept = |pass: &mut Pass| {
        exchange(&mut pass.steps[0].words, 5 << 16 | Op::IEqual as u32, 5 << 16 | Op::INotEqual as u32);
    };
    let faults: [(&str, Change, Plant); 9] = [
        ("tile.fragment.built_ins.pass", outside, NONE),
        ("tile.fragment.shaded.pass", wider, NONE),
        ("tile.fragment.shaded.tile", narrower, NONE),
        ("tile.fragment.fetch.non_coherent.pass", narrower, NONE),
        ("tile.fragment.outputs.4.tile", locations, NONE),
        ("tile.fragment.outputs.sparse.tile", locations, NONE),
        ("tile.fragment.discard.pass", kept, NONE),
        (
            "tile.fragment.atomic.min",
            |_| (),
            |words| {
                exchange(words, 7 << 16 | Op::AtomicUMin as u32, 7 << 16 | Op::AtomicUMax as u32);
            },
        ),
        ("tile.fragment.coordinates.tile", |_| (), |words| exchange(words, 0.5f32.to_bits(), 0)),
    ];
    for (name, change, plant) in faults {
        let right = pass(name);
        let mut wrong = pass(name);
        change(&mut wrong);
        for (pass, plant, is_wrong) in [(&right, NONE, false), (&wrong, plant, true)] {
            let permitted = permitted(&right);
            let mut executor =
                oracle_pass::LoweredOracle::new(pass, [4, 4, 1], plant).unwrap_or_else(|e| panic!("{name}: {e}"));
            let left =
                model::run(&right, &right.tiles(right.tile), &mut executor).unwrap_or_else(|e| panic!("{name}: {e}"));
            let comparison =
                run_pass::compare_results(&right, &left, None, &permitted).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(comparison.failing() > 0, is_wrong, "{name}");
        }
    }
}

/// Loading a texel that another fragment of the same draw writes is a data race, so no case may do
/// it.
#[test]
fn loading_another_fragments_texel_of_the_same_draw_is_a_race() {
    let mut pass = pass("tile.fragment.mirror.coherent");
    let why = |pass: &Pass| oracle_pass::permitted(pass, pass.tile, 7).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(why(&pass), Ok(()));
    // Send the output to the attachment that is loaded from.
    pass.attachments.swap(0, 1);
    let refused = why(&pass).expect_err("a race");
    assert!(refused.contains("data race"), "{refused}");
}

fn permitted(pass: &Pass) -> PermittedContents {
    oracle_pass::permitted(pass, pass.tile, 7).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn missing_contents_are_an_error() {
    let pass = pass("tile.atomic.add.u32.first");
    let permitted = permitted(&pass);
    let left = permitted.contents.clone();
    let compare = |left: &PassContents| Comparison::default().compare(&pass, left, &permitted, "Texel");
    assert_eq!(compare(&left), Ok(()));
    let mut short = left.clone();
    short.buffers[0].pop();
    let length = left.buffers[0].len();
    let error = compare(&short).expect_err("a byte is missing");
    assert_eq!(error.to_string(), format!("buffer 0 has {} bytes instead of {length}", length - 1));
    let fewer = PassContents { attachments: Vec::new(), ..left.clone() };
    assert!(compare(&fewer).is_err() || left.attachments.is_empty());
    let fewer = PassContents { buffers: Vec::new(), ..left };
    assert!(compare(&fewer).is_err());
}

/// If a pass changed nothing, a device that does nothing would pass.
#[test]
fn a_device_that_does_nothing_passes_no_case() {
    let mut passed = Vec::new();
    for case in super::TileShading.cases() {
        let pass = case.pass(crate::RunPath::Lowered).expect("a pass").unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let mut comparison = Comparison::default();
        assert_eq!(comparison.compare(&pass, &pass.contents(), &permitted(&pass), "Texel"), Ok(()));
        passed.extend((comparison.failing() == 0).then_some(case.name));
    }
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn comparing_nothing_is_undetermined() {
    let cases = super::TileShading.cases();
    let result = run_pass::result(&cases[0], crate::RunPath::Lowered, Comparison::default(), 1);
    assert_eq!(result.status, Status::Undetermined, "{:?}", result.reason);
}

#[test]
fn all_wrong_values_are_counted_and_the_first_kept() {
    let pass = pass("tile.attachments.3");
    let permitted = permitted(&pass);
    let mut left = permitted.contents.clone();
    left.attachments.iter_mut().chain(&mut left.buffers).flatten().for_each(|byte| *byte ^= 0x55);
    let mut comparison = Comparison::default();
    assert_eq!(comparison.compare(&pass, &left, &permitted, "Texel"), Ok(()));
    assert_eq!((comparison.failing(), comparison.wrong.len()), (comparison.checked, 1));
    let first = comparison.wrong[0].first.len() as u64;
    assert!(0 < first && first < comparison.failing(), "{first} of {}", comparison.failing());
}
