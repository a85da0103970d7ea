//! Pictures of the texels that gathers read, drawn from the table that the oracle and the lowering
//! use ([`GatherMode::offsets`], [`GatherMode::origin`]).

use assay_texture::{FootprintOrigin, GatherMode};
use serde::Serialize;
use std::fmt::Write;

/// Width and height of a texel in pixels.
const TEXEL: f64 = 60.0;

/// Margin around the picture in pixels, so that thick outlines are not clipped.
const EDGE: f64 = 2.0;

/// Position of the sample point in the square of its origin. It is off centre to leave room for
/// letters.
const PART: [f64; 2] = [0.78, 0.22];

/// Components of a result, in order.
const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Picture of a gather mode.
#[derive(Debug, Serialize)]
pub(super) struct Footprint {
    /// Name prefix of the cases that the picture explains.
    cases: String,
    /// Name of the mode in SPIR-V.
    title: String,
    /// Description of the picture.
    caption: String,
    /// The picture, an `svg` element that uses the page's styles.
    svg: String,
}

impl Footprint {
    /// Returns the pictures for the modes that occur among the case names, each once.
    pub(super) fn of_cases<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<Footprint> {
        let of = |mode: &GatherMode| names.clone().any(|name| name.starts_with(&mode.case_prefix()));
        GatherMode::ALL.into_iter().filter(of).map(Footprint::new).collect()
    }

    fn new(mode: GatherMode) -> Footprint {
        let title = mode.qcom().map_or_else(|| "OpImageGather".to_owned(), |qcom| format!("{qcom:?}"));
        let texels = COMPONENTS.iter().zip(mode.offsets()).map(|(name, offset)| format!("{name} is {}", pair(offset)));
        let origin = match mode.origin() {
            FootprintOrigin::Nearest => "floor(u), floor(v): the texel that contains the point",
            FootprintOrigin::Linear => {
                "floor(u − ½), floor(v − ½): the upper left of the four texels nearest to the point"
            }
        };
        let caption = format!(
            "{}. Dot: the sample point, which may be anywhere in the dashed square. Thick outline: the origin texel, at {origin}.",
            texels.collect::<Vec<_>>().join(", ")
        );
        Footprint { cases: mode.case_prefix(), svg: draw(mode, &title, &caption), title, caption }
    }
}

/// Formats an offset: `(−1, 2)`.
fn pair([x, y]: [i32; 2]) -> String {
    format!("({x}, {y})").replace('-', "−")
}

/// Returns the offsets along an axis that a picture shows: the range of the texels and the origin,
/// extended by one texel on each side.
fn range(mode: GatherMode, axis: usize) -> (i32, i32) {
    let along = mode.offsets().map(|offset| offset[axis]);
    let (low, high) = along.into_iter().fold((0, 0), |(low, high), at| (at.min(low), at.max(high)));
    (low - 1, high + 1)
}

fn draw(mode: GatherMode, title: &str, caption: &str) -> String {
    let ranges = [range(mode, 0), range(mode, 1)];
    let [width, height] = ranges.map(|(low, high)| f64::from(high - low + 1) * TEXEL + 2.0 * EDGE);
    // Converts texels, counted from the upper left corner of the origin, to pixels.
    let at = |axis: usize, texels: f64| EDGE + (texels - f64::from(ranges[axis].0)) * TEXEL;
    let square = |class: &str, [x, y]: [f64; 2]| {
        let (x, y) = (at(0, x), at(1, y));
        format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{TEXEL}\" height=\"{TEXEL}\"")
    };
    let shift = mode.origin().shift();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\"><title>{title}: {caption}</title>"
    );
    for y in ranges[1].0..=ranges[1].1 {
        for x in ranges[0].0..=ranges[0].1 {
            _ = write!(svg, "{}/>", square("grid-cell", [x, y].map(f64::from)));
        }
    }
    for (name, offset) in COMPONENTS.iter().zip(mode.offsets()) {
        let corner = offset.map(f64::from);
        _ = write!(svg, "{} data-component=\"{name}\"/>", square("texel", corner));
        // Move the letters away from the square of the sample point if it overlaps the texel.
        let away = corner.map(|at| at - shift);
        let cut = away.iter().all(|by| by.abs() < 1.0);
        let [x, y] = [0, 1].map(|k| at(k, corner[k] + 0.5 + if cut { 0.4 * away[k] } else { 0.0 }));
        let label = pair(offset);
        _ = write!(
            svg,
            "<text class=\"component\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>\
             <text class=\"offset\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            y - 1.0,
            y + 12.0
        );
    }
    let [x, y] = [0, 1].map(|axis| at(axis, shift + PART[axis]));
    let (origin, reach) = (square("origin", [0.0; 2]), square("reach", [shift; 2]));
    _ = write!(svg, "{origin}/>{reach}/><circle class=\"point\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/></svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::{Document, Node};

    fn number(node: Node<'_, '_>, name: &str) -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    }

    fn find<'a, 'b>(drawn: &'a Document<'b>, class: &str) -> Vec<Node<'a, 'b>> {
        drawn.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
    }

    /// Positions measured in the drawing, in texels from the drawn origin, equal the oracle's
    /// offsets.
    #[test]
    fn pictures_show_the_texels_that_the_oracle_reads() {
        for mode in GatherMode::ALL {
            let Footprint { svg, .. } = Footprint::new(mode);
            let drawn = Document::parse(&svg).unwrap();
            let origin = find(&drawn, "origin")[0];
            let from_origin = |node, names: [&str; 2]| {
                [0, 1].map(|k| (number(node, names[k]) - number(origin, ["x", "y"][k])) / TEXEL)
            };
            let texels = find(&drawn, "texel");
            let shown: Vec<(&str, [f64; 2])> = texels
                .iter()
                .map(|texel| (texel.attribute("data-component").unwrap(), from_origin(*texel, ["x", "y"])))
                .collect();
            let expected = ["x", "y", "z", "w"].into_iter().zip(mode.offsets().map(|offset| offset.map(f64::from)));
            assert_eq!(shown, expected.collect::<Vec<_>>(), "{mode}");
            // The point and the corners of the dashed square all have that texel as their origin.
            let point = from_origin(find(&drawn, "point")[0], ["cx", "cy"]);
            let [left, top] = from_origin(find(&drawn, "reach")[0], ["x", "y"]);
            let inside = [point, [left + 0.01, top + 0.01], [left + 0.99, top + 0.99]];
            for place in inside {
                assert_eq!(place.map(|u| (u - mode.origin().shift()).floor()), [0.0, 0.0], "{mode} at {place:?}");
            }
            // The picture has a margin of one texel around the texels that are read.
            let size = [number(drawn.root_element(), "width"), number(drawn.root_element(), "height")];
            for texel in texels {
                for (k, name) in ["x", "y"].into_iter().enumerate() {
                    let at = number(texel, name);
                    assert!(at >= TEXEL && at + 2.0 * TEXEL <= size[k], "{mode}: {name} = {at} of {size:?}");
                }
            }
        }
    }

    #[test]
    fn captions_describe_the_drawing() {
        let row = Footprint::new(GatherMode::Row);
        assert_eq!((row.title.as_str(), row.cases.as_str()), ("Gather4x1QCOM", "gather.4x1."));
        assert!(row.caption.starts_with("x is (0, 0), y is (1, 0), z is (2, 0), w is (3, 0). "), "{}", row.caption);
        let wide = Footprint::new(GatherMode::Horizontal);
        assert!(wide.caption.starts_with("x is (−1, 1), y is (2, 1), "), "{}", wide.caption);
    }

    #[test]
    fn a_page_has_the_pictures_of_its_cases() {
        let titles = |names: &[&str]| {
            let found = Footprint::of_cases(names.iter().copied());
            found.into_iter().map(|footprint| footprint.title).collect::<Vec<_>>()
        };
        assert_eq!(titles(&["gather.v2.plain.u32.0", "gather.d.a", "gather.d.b"]), ["GatherDQCOM", "GatherV2QCOM"]);
        assert_eq!(titles(&["gather.core.plain.u32.0"]), ["OpImageGather"]);
        assert!(titles(&["tile.v2.a", "gather", "gather.d2.a"]).is_empty());
    }
}
