//! Plots of an instruction page as SVG: the error along the first operand, and its distribution.

use super::operand_axis::OperandAxis;
use crate::{group_digits, margin};
use assay_events::Profile;
use maud::{Markup, html};
use std::fmt::Write as _;

/// Ranges of operands whose errors exceed the bound.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExcessRange {
    /// Least and greatest value.
    pub(super) ends: [String; 2],
    /// Greatest margin; the profile cuts it off at 1e9.
    pub(super) margin: f64,
}

/// Margin at which profiles are cut off.
const CUT_OFF: f64 = 1e9;

/// Returns the ranges of adjacent parts with a margin above 1, in order.
pub(super) fn excess_ranges(profile: &Profile) -> Vec<ExcessRange> {
    let Some(axis) = OperandAxis::new(&profile.operand) else { return Vec::new() };
    let count = profile.worst.len();
    let mut ranges = Vec::new();
    let mut open: Option<(usize, f64)> = None;
    for (at, margin) in profile.worst.iter().copied().chain([None]).enumerate() {
        match (open, margin.filter(|margin| *margin > 1.0)) {
            (Some((first, greatest)), Some(margin)) => open = Some((first, greatest.max(margin))),
            (None, Some(margin)) => open = Some((at, margin)),
            (Some((first, margin)), None) => {
                ranges.push(ExcessRange { ends: axis.ends(first, at - 1, count), margin });
                open = None;
            }
            (None, None) => {}
        }
    }
    ranges
}

/// Formats a margin of a profile.
pub(super) fn profile_margin(value: f64) -> String {
    if value >= CUT_OFF { "inf".to_owned() } else { margin(value) }
}

/// Vertical scale: linear up to the bound, then logarithmic up to 1000.
struct MarginScale {
    top: f64,
    bottom: f64,
    /// Set if a margin exceeds the bound.
    exceeds: bool,
}

impl MarginScale {
    fn y(&self, margin: f64) -> f64 {
        let bound = if self.exceeds { 0.6 } else { 0.87 };
        let share = match margin {
            ..=1.0 => margin.max(0.0) * bound,
            _ if self.exceeds => bound + (1.0 - bound) * margin.log10().min(3.0) / 3.0,
            _ => 1.0,
        };
        self.bottom - (self.bottom - self.top) * share
    }

    fn ticks(&self) -> &'static [(f64, &'static str)] {
        if self.exceeds {
            &[(0.0, "0"), (0.5, "0.5"), (1.0, "bound 1"), (10.0, "10"), (100.0, "100"), (1000.0, "≥ 1000")]
        } else {
            &[(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "bound 1")]
        }
    }
}

/// Draws the greatest error in each part of the first operand's range.
pub(super) fn error_curve(profile: &Profile, exceeds: bool) -> Markup {
    const WIDTH: f64 = 760.0;
    const LEFT: f64 = 66.0;
    const RIGHT: f64 = 14.0;
    let scale = MarginScale { top: 8.0, bottom: 140.0, exceeds };
    let (bottom, span, count) = (scale.bottom, WIDTH - LEFT - RIGHT, profile.worst.len().max(1));
    let step = span / count as f64;
    let x = |part: usize| LEFT + part as f64 * step;
    let (mut permitted, mut untested) = (String::new(), String::new());
    for (part, margin) in profile.worst.iter().enumerate() {
        _ = match margin {
            None => write!(untested, "M{:.1} {}h{step:.2}", x(part), bottom + 2.5),
            Some(margin) if *margin <= 1.0 => {
                let y = scale.y(*margin).min(bottom - 1.0);
                write!(permitted, "M{:.1} {bottom}V{y:.1}h{step:.2}V{bottom}z", x(part))
            }
            Some(_) => Ok(()),
        };
    }
    let axis = OperandAxis::new(&profile.operand);
    let title = |part: usize, margin: f64| {
        let ends = axis.map_or_else(String::new, |axis| axis.ends(part, part, count).join(" to "));
        format!("{ends}: margin {}", profile_margin(margin))
    };
    let excess =
        profile.worst.iter().enumerate().filter_map(|(part, margin)| Some((part, (*margin).filter(|m| *m > 1.0)?)));
    html! {
        svg viewBox="0 0 760 182" role="img" aria-label="Greatest error divided by its bound, along the first operand" {
            @for (value, text) in scale.ticks() {
                line class="axis" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(scale.y(*value)) y2=(scale.y(*value)) {}
                text x=(LEFT - 4.0) y=(scale.y(*value) + 3.5) text-anchor="end" { (text) }
            }
            path class="ok" d=(permitted) {}
            path class="untested" d=(untested) {}
            @for (part, margin) in excess {
                rect class="bad" x=(format!("{:.1}", x(part))) y=(format!("{:.1}", scale.y(margin)))
                    width=(format!("{:.1}", step.max(2.0))) height=(format!("{:.1}", bottom - scale.y(margin))) {
                    title { (title(part, margin)) }
                }
            }
            line class="limit" x1=(LEFT) x2=(WIDTH - RIGHT) y1=(scale.y(1.0)) y2=(scale.y(1.0)) {}
            @for (position, text) in axis.map(OperandAxis::ticks).unwrap_or_default() {
                line class="tick" x1=(format!("{:.1}", LEFT + span * position)) x2=(format!("{:.1}", LEFT + span * position))
                    y1=(bottom) y2=(bottom + 5.0) {}
                text x=(format!("{:.1}", LEFT + span * position)) y=(bottom + 17.0) text-anchor="middle" { (text) }
            }
            text x=(LEFT + span / 2.0) y="176" text-anchor="middle" {
                "first operand (" (profile.operand) "), in the order of its values"
            }
            text transform="rotate(-90 10 74)" x="10" y="74" text-anchor="middle" { "error / bound" }
        }
    }
}

/// Draws the distribution of the errors.
pub(super) fn histogram(profile: &Profile) -> Markup {
    const LEFT: f64 = 26.0;
    const TOP: f64 = 8.0;
    const BOTTOM: f64 = 140.0;
    let bins = profile.errors.len().max(1);
    let step = 290.0 / bins as f64;
    // The bins are: no error, up to 2^-10, .. up to 2^0, .. up to 2^7, more.
    let bound = bins.saturating_sub(8);
    let most = profile.errors.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| match count {
        0 => 0.0,
        count => ((BOTTOM - TOP) * (count as f64).ln_1p() / (most as f64).ln_1p()).max(1.5),
    };
    let x = |bin: f64| format!("{:.1}", LEFT + bin * step);
    let title = |bin: usize, count: u64| {
        let upto = match bin {
            0 => "without error".to_owned(),
            bin if bin + 1 == bins => "above 2^7".to_owned(),
            bin => format!("up to 2^{}", bin as i64 + 1 - bound as i64),
        };
        format!("{} {upto}", group_digits(count))
    };
    html! {
        svg viewBox="0 0 330 182" role="img" aria-label="Number of results by error divided by its bound" {
            line class="axis" x1=(LEFT) x2="316" y1=(BOTTOM) y2=(BOTTOM) {}
            @for (bin, &count) in profile.errors.iter().enumerate() {
                @let class = if bin >= bound { "bad" } else { "ok" };
                rect class=(class) x=(x(bin as f64)) y=(format!("{:.1}", BOTTOM - height(count)))
                    width=(format!("{:.1}", step - 1.0)) height=(format!("{:.1}", height(count))) {
                    title { (title(bin, count)) }
                }
            }
            line class="limit" x1=(x(bound as f64)) x2=(x(bound as f64)) y1=(TOP) y2=(BOTTOM) {}
            @for (bin, text) in [(0.5, "exact"), (bound as f64 - 6.0, "2^-6"), (bound as f64, "bound"), (bins as f64 - 1.0, "2^7")] {
                text x=(x(bin)) y=(BOTTOM + 17.0) text-anchor="middle" { (text) }
            }
            text x="171" y="176" text-anchor="middle" { "error / bound" }
            text transform="rotate(-90 12 74)" x="12" y="74" text-anchor="middle" { "results (log)" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut worst = vec![Some(0.5); 512];
        let part = ((0x3d80_0000u64 | 1 << 31) >> 23) as usize;
        (worst[part], worst[part - 1], worst[0]) = (Some(1.11), Some(1.02), None);
        worst[511 - part] = Some(1e9);
        let mut errors = vec![0; 20];
        (errors[0], errors[11], errors[12]) = (1_000, 5, 1);
        Profile { operand: "f32".to_owned(), worst, errors }
    }

    #[test]
    fn ranges_above_the_bound_are_named() {
        let ends = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(
            excess_ranges(&profile()),
            [
                ExcessRange { ends: ends("-0.12499999", "-0.0625"), margin: 1e9 },
                ExcessRange { ends: ends("0.03125", "0.12499999"), margin: 1.11 },
            ]
        );
        assert_eq!(profile_margin(1e9), "inf");
    }

    #[test]
    fn every_part_above_the_bound_is_drawn_with_its_operands() {
        let curve = error_curve(&profile(), true).into_string();
        assert_eq!(curve.matches("class=\"bad\"").count(), 3);
        assert!(curve.contains("<title>0.0625 to 0.12499999: margin 1.11</title>"), "{curve}");
        assert!(curve.contains(">bound 1</text>") && curve.contains(">1e19</text>"));
        let histogram = histogram(&profile()).into_string();
        assert!(
            histogram.contains("<title>1,000 without error</title>")
                && histogram.contains("<title>5 up to 2^0</title>")
        );
        assert!(histogram.contains("<title>1 up to 2^1</title>"), "{histogram}");
    }
}
