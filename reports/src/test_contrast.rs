//! Contrast of the colours of a style sheet.

/// Relative luminance and contrast as defined by WCAG 2.2.
pub(crate) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let linear = |value: u8| match f64::from(value) / 255.0 {
        low if low <= 0.040_45 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    let luminance = |[r, g, b]: [u8; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Splits a style sheet into the parts that define its light and its dark colours.
pub(crate) fn schemes(style: &str) -> [&str; 2] {
    let parts: Vec<&str> = style.split("color-scheme: dark)").collect();
    parts.try_into().expect("two schemes")
}

/// Returns the colour that a part of a style sheet gives to a custom property.
pub(crate) fn colour(scheme: &str, name: &str) -> [u8; 3] {
    let (_, rest) = scheme.split_once(&format!("--{name}: #")).expect(name);
    let digits = rest.split_once(';').unwrap().0;
    let each = |at: usize| match digits.len() {
        3 => u8::from_str_radix(&digits[at..=at].repeat(2), 16).unwrap(),
        _ => u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap(),
    };
    [0, 1, 2].map(each)
}

#[test]
fn black_and_white_have_the_greatest_contrast() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
}
