//! Case families: the TOML files under `cases/`, parsed strictly and expanded into cases.

use crate::CaseError;
use crate::case::{Case, NameParts, OperandSource, modes_name, shape_from_name};
use crate::shader::takes_source;
use assay_float::Format;
use assay_precision::{Call, Modes, ModesError, Op, Scalar, Shape, nearest};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

type SpannedText = Spanned<String>;

/// Contents of a family file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    /// Purpose of the family.
    why: SpannedText,
    /// Blocks of cases.
    cases: Spanned<Vec<Spanned<FamilyBlock>>>,
}

/// Every combination of the listed values that the instructions accept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyBlock {
    instructions: Spanned<Vec<SpannedText>>,
    /// Main operand types (result types of conversions); by default all that the instruction
    /// accepts.
    scalars: Option<Vec<SpannedText>>,
    /// Operand types of conversions; by default all.
    from: Option<Vec<SpannedText>>,
    /// Shapes; by default all.
    shapes: Option<Vec<SpannedText>>,
    /// SPIR-V names joined by `+`, `default`, or names of lists in `modes.toml`.
    modes: Vec<SpannedText>,
    sources: Vec<SpannedText>,
    /// The part that the quick budget keeps: cases that fit an entry; by default all.
    quick: Option<Vec<QuickPart>>,
}

/// A part of a block; a missing axis is not restricted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuickPart {
    scalars: Option<Vec<SpannedText>>,
    shapes: Option<Vec<SpannedText>>,
    modes: Option<Vec<SpannedText>>,
    sources: Option<Vec<SpannedText>>,
}

/// One named list of `modes.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModeList {
    /// Purpose of the list, for readers of the file.
    #[serde(rename = "why")]
    _why: String,
    modes: Vec<SpannedText>,
}

/// Named lists of environments, from `modes.toml`.
pub(crate) struct ModeLists(BTreeMap<String, Vec<Modes>>);

impl ModeLists {
    /// Parses `modes.toml`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<ModeLists, CaseError> {
        let at = FileContext { file, text };
        let lists: BTreeMap<String, ModeList> = toml::from_str(text).map_err(|e| at.toml_error(&e))?;
        let none = ModeLists(BTreeMap::new());
        let mut read = BTreeMap::new();
        for (name, list) in lists {
            read.insert(name, none.resolve(&at, &list.modes)?);
        }
        Ok(ModeLists(read))
    }

    fn resolve(&self, at: &FileContext<'_>, names: &[SpannedText]) -> Result<Vec<Modes>, CaseError> {
        let mut found: Vec<Modes> = Vec::new();
        for name in names {
            let resolved = match self.0.get(name.get_ref().as_str()) {
                Some(list) => list.clone(),
                None => vec![self.parse_modes(at, name)?],
            };
            for modes in resolved {
                if !found.contains(&modes) {
                    found.push(modes);
                }
            }
        }
        Ok(found)
    }

    /// Parses `default`, or compatible SPIR-V names joined by `+`.
    fn parse_modes(&self, at: &FileContext<'_>, name: &SpannedText) -> Result<Modes, CaseError> {
        let modes = Modes::from_names(name.get_ref().split('+').map(str::trim)).map_err(|error| match &error {
            ModesError::Unknown { name: part, .. } => {
                let valid = Modes::NAMES.into_iter().chain(["default"]).chain(self.0.keys().map(String::as_str));
                at.unknown(name, "mode", part, valid)
            }
            ModesError::Exclusive { .. } => {
                at.error(&name.span(), format!("`{}` combines modes: {error}", name.get_ref()))
            }
        })?;
        // Cases declare fast-math flags by FPFastMathDefault, once for the module.
        if modes.preserve_special && modes.fast_math.is_some() {
            let what = "flags are declared by FPFastMathDefault, which excludes SignedZeroInfNanPreserve";
            return Err(at.error(&name.span(), format!("`{}` combines modes: {what}", name.get_ref())));
        }
        Ok(modes)
    }
}

/// Parses a family file and expands its cases; their names begin with `prefix`.
///
/// # Errors
/// The file is malformed, or two of its blocks have a case in common.
pub(crate) fn parse(file: &str, prefix: &str, text: &str, lists: &ModeLists) -> Result<Vec<Case>, CaseError> {
    let ExpandedFamily { cases, ends } = expand(file, prefix, text, lists)?;
    let mut names = HashSet::new();
    if let Some(twice) = cases.iter().position(|case: &Case| !names.insert(case.name.as_str())) {
        let block = ends.into_iter().find(|(end, _)| twice < *end).map(|(_, span)| span).unwrap_or_default();
        let what = format!("`{}` comes out of an earlier block, too", cases[twice].name);
        return Err(FileContext { file, text }.error(&block, what));
    }
    Ok(cases)
}

/// The cases of a family file.
pub(crate) struct ExpandedFamily {
    /// The cases, in the order of the blocks. One may be there twice.
    pub(crate) cases: Vec<Case>,
    /// The number of cases up to the end of each block, with its place in the file.
    ends: Vec<(usize, Range<usize>)>,
}

/// Expands the cases of a family file as [`parse`] does, without looking for duplicates.
///
/// # Errors
/// The file is malformed.
pub(crate) fn expand(file: &str, prefix: &str, text: &str, lists: &ModeLists) -> Result<ExpandedFamily, CaseError> {
    let at = FileContext { file, text };
    let read: FamilyFile = toml::from_str(text).map_err(|e| at.toml_error(&e))?;
    if read.why.get_ref().trim().is_empty() {
        return Err(at.error(&read.why.span(), "`why` is empty: a family says why it exists".into()));
    }
    if read.cases.get_ref().is_empty() {
        return Err(at.error(&read.cases.span(), "`cases` is empty: a family has at least one block of cases".into()));
    }
    let family: Arc<str> = Path::new(file).file_stem().map_or("".into(), |stem| stem.to_string_lossy().into());
    let (mut cases, mut ends) = (Vec::new(), Vec::new());
    for block in read.cases.get_ref() {
        let axes = Axes::read(&at, block.get_ref(), lists)?;
        axes.expand(&at, block.get_ref(), prefix, &family, &mut cases)?;
        ends.push((cases.len(), block.span()));
    }
    Ok(ExpandedFamily { cases, ends })
}

/// A block with parsed values.
struct Axes {
    ops: Vec<Op>,
    scalars: Option<Vec<Scalar>>,
    from: Option<Vec<Scalar>>,
    shapes: Option<Vec<Shape>>,
    /// With their names in names of cases.
    modes: Vec<(Modes, String)>,
    sources: Vec<OperandSource>,
    quick: Option<Vec<QuickEntry>>,
}

/// An entry of the part that the quick budget keeps.
struct QuickEntry {
    scalars: Option<Vec<Scalar>>,
    shapes: Option<Vec<Shape>>,
    modes: Option<Vec<Modes>>,
    sources: Option<Vec<OperandSource>>,
}

impl QuickEntry {
    fn includes(&self, case: &Case) -> bool {
        fn fits<T: PartialEq>(axis: &Option<Vec<T>>, value: &T) -> bool {
            axis.as_ref().is_none_or(|listed| listed.contains(value))
        }
        fits(&self.scalars, &case.scalar)
            && fits(&self.shapes, &case.shape)
            && fits(&self.modes, &case.call.modes)
            && fits(&self.sources, &case.source)
    }
}

impl Axes {
    fn read(at: &FileContext<'_>, block: &FamilyBlock, lists: &ModeLists) -> Result<Axes, CaseError> {
        let listed = [&block.scalars, &block.from, &block.shapes].into_iter().filter_map(Option::as_ref);
        for names in listed.chain([block.instructions.get_ref(), &block.modes, &block.sources]) {
            at.refuse_duplicates(names)?;
        }
        let ops =
            block.instructions.get_ref().iter().map(|name| instruction(at, name)).collect::<Result<Vec<_>, _>>()?;
        let scalars = |names: &Option<Vec<SpannedText>>| each(names, |name| scalar(at, name));
        let shapes = |names: &Option<Vec<SpannedText>>| each(names, |name| shape(at, name));
        let sources = |names: &[SpannedText]| names.iter().map(|name| source(at, name)).collect::<Result<Vec<_>, _>>();
        let kept = |quick: &QuickPart| {
            Ok(QuickEntry {
                scalars: scalars(&quick.scalars)?,
                shapes: shapes(&quick.shapes)?,
                modes: quick.modes.as_deref().map(|names| lists.resolve(at, names)).transpose()?,
                sources: quick.sources.as_deref().map(sources).transpose()?,
            })
        };
        Ok(Axes {
            ops,
            scalars: scalars(&block.scalars)?,
            from: scalars(&block.from)?,
            shapes: shapes(&block.shapes)?,
            modes: lists.resolve(at, &block.modes)?.into_iter().map(|modes| (modes, modes_name(&modes))).collect(),
            sources: sources(&block.sources)?,
            quick: block.quick.as_ref().map(|parts| parts.iter().map(kept).collect()).transpose()?,
        })
    }

    /// Adds every combination that its instruction accepts. A type, shape or source type that no
    /// instruction of the block accepts is a mistake.
    fn expand(
        &self,
        at: &FileContext<'_>,
        block: &FamilyBlock,
        prefix: &str,
        family: &Arc<str>,
        cases: &mut Vec<Case>,
    ) -> Result<(), CaseError> {
        let before = cases.len();
        let mut used: (HashSet<Scalar>, HashSet<Scalar>, HashSet<Shape>) = Default::default();
        for &op in &self.ops {
            for &scalar in restricted(&self.scalars, Call::scalars(op)) {
                for &shape in restricted(&self.shapes, Call::shapes(op)) {
                    let froms = Call::sources(op);
                    let froms: Vec<Option<Scalar>> = match froms {
                        [] => vec![None],
                        _ => restricted(&self.from, froms).into_iter().map(|&from| Some(from)).collect(),
                    };
                    for from in froms {
                        // The instruction does not accept some pairs of types, such as f32 from
                        // f32.
                        let Ok(call) = Call::new(op, scalar, shape, from, Modes::default()) else { continue };
                        used.0.insert(scalar);
                        used.1.extend(from);
                        used.2.insert(shape);
                        self.expand_call(prefix, family, (scalar, shape, from), &call, cases);
                    }
                }
            }
        }
        unused(at, block.scalars.as_deref(), self.scalars.as_deref(), &used.0, "type")?;
        unused(at, block.from.as_deref(), self.from.as_deref(), &used.1, "source type")?;
        unused(at, block.shapes.as_deref(), self.shapes.as_deref(), &used.2, "shape")?;
        if cases.len() == before {
            return Err(at.error(
                &block.instructions.span(),
                "the block comes to no case: it needs instructions, modes and sources".into(),
            ));
        }
        Ok(())
    }

    fn expand_call(
        &self,
        prefix: &str,
        family: &Arc<str>,
        (scalar, shape, from): (Scalar, Shape, Option<Scalar>),
        call: &Call,
        cases: &mut Vec<Case>,
    ) {
        let parts = NameParts::new(prefix, scalar, call.op, shape, from);
        for (modes, modes_name) in self.modes.iter().filter(|(modes, _)| applies(modes, call)) {
            for &source in self.sources.iter().filter(|&&source| takes_source(call.op, source)) {
                let call = Call { modes: *modes, ..call.clone() };
                let (name, family) = (parts.name(modes_name, source), Arc::clone(family));
                let mut case = Case { name, call, scalar, from, shape, source, quick: true, family };
                case.quick = self.quick.as_ref().is_none_or(|parts| parts.iter().any(|part| part.includes(&case)));
                cases.push(case);
            }
        }
    }
}

/// Returns true if an environment is meaningful for a call. `RelaxedPrecision` needs 32-bit types
/// and no structure as the result, which cannot be decorated. Saturation needs a conversion to
/// float8. The other modes affect only floating-point types of the IEEE 754 encoding.
fn applies(modes: &Modes, call: &Call) -> bool {
    let mut scalars = call.operand_slots().chain(call.result_slots());
    let decorated_only = Modes { relaxed: modes.relaxed, saturated: modes.saturated, ..Modes::default() } == *modes;
    let fits_saturated = !modes.saturated || call.takes_saturation();
    let fits_relaxed = !modes.relaxed || scalars.all(|scalar| scalar == Scalar::Bool || scalar.width() == 32);
    let fits_relaxed = fits_relaxed && !(modes.relaxed && matches!(call.op, Op::ModfStruct | Op::FrexpStruct));
    let ieee = |scalar: Scalar| scalar.format().is_some_and(Format::is_ieee_754);
    let float = call.operand_slots().chain(call.result_slots()).any(ieee);
    fits_relaxed && fits_saturated && (float || decorated_only)
}

/// Returns the values that an instruction accepts, restricted to the listed values if there is a
/// list.
fn restricted<'a, T: PartialEq>(listed: &Option<Vec<T>>, taken: &'a [T]) -> Vec<&'a T> {
    taken.iter().filter(|value| listed.as_ref().is_none_or(|listed| listed.contains(value))).collect()
}

fn unused<T: Eq + std::hash::Hash>(
    at: &FileContext<'_>,
    names: Option<&[SpannedText]>,
    values: Option<&[T]>,
    used: &HashSet<T>,
    kind: &str,
) -> Result<(), CaseError> {
    let mut pairs = names.unwrap_or_default().iter().zip(values.unwrap_or_default());
    match pairs.find(|(_, value)| !used.contains(value)) {
        Some((name, _)) => {
            Err(at.error(&name.span(), format!("no instruction of this block takes the {kind} `{}`", name.get_ref())))
        }
        None => Ok(()),
    }
}

fn each<T>(
    names: &Option<Vec<SpannedText>>,
    read: impl Fn(&SpannedText) -> Result<T, CaseError>,
) -> Result<Option<Vec<T>>, CaseError> {
    names.as_ref().map(|names| names.iter().map(read).collect()).transpose()
}

fn instruction(at: &FileContext<'_>, name: &SpannedText) -> Result<Op, CaseError> {
    // Spelled exactly as in SPIR-V, because people read these files.
    match Op::from_name(name.get_ref()) {
        Ok(op) if op.name() == name.get_ref() => match op.not_in_compute() {
            Some(why) => Err(at.error(&name.span(), format!("no case can run `{op}`: {why}"))),
            None => Ok(op),
        },
        Ok(op) => Err(at.error(&name.span(), format!("`{}` is spelled `{}`", name.get_ref(), op.name()))),
        Err(unknown) => Err(at.error(&name.span(), unknown.to_string())),
    }
}

fn scalar(at: &FileContext<'_>, name: &SpannedText) -> Result<Scalar, CaseError> {
    let valid =
        ["f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"];
    Scalar::from_name(name.get_ref()).ok_or_else(|| at.unknown(name, "type", name.get_ref(), valid.into_iter()))
}

fn shape(at: &FileContext<'_>, name: &SpannedText) -> Result<Shape, CaseError> {
    shape_from_name(name.get_ref()).ok_or_else(|| {
        let sizes = 2..=4;
        let matrices = sizes.clone().flat_map(|columns| (2..=4).map(move |rows| Shape::Matrix { columns, rows }));
        let all = [Shape::Scalar].into_iter().chain(sizes.map(Shape::Vector)).chain(matrices);
        let names: Vec<String> = all.map(|shape| shape.to_string()).collect();
        at.unknown(name, "shape", name.get_ref(), names.iter().map(String::as_str))
    })
}

fn source(at: &FileContext<'_>, name: &SpannedText) -> Result<OperandSource, CaseError> {
    let found = OperandSource::ALL.into_iter().find(|source| source.name() == name.get_ref());
    found.ok_or_else(|| {
        at.unknown(name, "source", name.get_ref(), OperandSource::ALL.into_iter().map(OperandSource::name))
    })
}

/// The current file, for error messages with line numbers.
struct FileContext<'a> {
    file: &'a str,
    text: &'a str,
}

impl FileContext<'_> {
    fn error(&self, span: &Range<usize>, what: String) -> CaseError {
        let line = 1 + self.text.bytes().take(span.start).filter(|&b| b == b'\n').count();
        CaseError::Malformed { file: self.file.to_owned(), line, what }
    }

    /// Returns an error if a list contains a name twice.
    fn refuse_duplicates(&self, names: &[SpannedText]) -> Result<(), CaseError> {
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(name.get_ref())) {
            Some(name) => Err(self.error(&name.span(), format!("`{}` stands there twice", name.get_ref()))),
            None => Ok(()),
        }
    }

    fn toml_error(&self, error: &toml::de::Error) -> CaseError {
        self.error(&error.span().unwrap_or(0..0), error.message().to_owned())
    }

    fn unknown<'v>(&self, at: &SpannedText, kind: &str, name: &str, valid: impl Iterator<Item = &'v str>) -> CaseError {
        let nearest = nearest(name, valid);
        self.error(&at.span(), format!("unknown {kind} `{name}`; did you mean {}?", nearest.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Case>, String> {
        let lists =
            ModeLists::parse("modes.toml", "[strict]\nwhy = 'x'\nmodes = ['DenormPreserve+RoundingModeRTE']").unwrap();
        parse("mine.toml", "mine", text, &lists).map_err(|error| error.to_string())
    }

    #[test]
    fn a_block_expands_to_every_combination() {
        let text = "why = 'a test'\n[[cases]]\ninstructions = ['Exp2', 'OpConvertSToF']\nscalars = ['f32']\n\
            shapes = ['scalar', 'vec3']\nfrom = ['i16']\nmodes = ['default', 'strict']\nsources = ['buffer', 'constant']\n\
            quick = [{ shapes = ['scalar'], modes = ['default'] }]";
        let cases = read(text).unwrap();
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), 16);
        assert_eq!(names[..2], ["mine.f32.exp2.scalar.default", "mine.f32.exp2.scalar.default.constant"]);
        assert!(names.contains(&"mine.f32.convertstof.vec3.denorm_preserve_and_rounding_mode_rte.from_i16.constant"));
        assert_eq!(cases.iter().filter(|case| case.quick).count(), 4);
        assert!(cases.iter().all(|case| &*case.family == "mine"));
    }

    #[test]
    fn modes_are_left_out_where_they_mean_nothing() {
        let text = "why = 'a test'\n[[cases]]\ninstructions = ['SAbs', 'FAbs']\nshapes = ['scalar']\n\
            modes = ['DenormPreserve', 'RelaxedPrecision']\nsources = ['buffer']";
        let names: Vec<String> = read(text).unwrap().into_iter().map(|case| case.name).collect();
        assert_eq!(
            names,
            [
                "mine.i32.sabs.scalar.relaxed_precision",
                "mine.f16.fabs.scalar.denorm_preserve",
                "mine.f32.fabs.scalar.denorm_preserve",
                "mine.f32.fabs.scalar.relaxed_precision",
                "mine.f64.fabs.scalar.denorm_preserve",
            ]
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let block = |line: &str| {
            let mut lines = vec!["instructions = ['Exp2']", "modes = ['default']", "sources = ['buffer']"];
            let key = line.split(' ').next().unwrap_or_default();
            lines.retain(|other| !other.starts_with(key));
            lines.push(line);
            format!("why = 'x'\n[[cases]]\n{}", lines.join("\n"))
        };
        for (text, expected) in [
            ("why = ' '\ncases = []".to_owned(), "mine.toml:1: `why` is empty"),
            ("why = 'x'\ncases = []".to_owned(), "mine.toml:2: `cases` is empty"),
            ("[[cases]]\nmodes = []".to_owned(), "mine.toml:1: missing field"),
            (block("shape = ['vec2']"), "mine.toml:6: unknown field `shape`, expected one of"),
            (block("instructions = ['Expp2']"), "mine.toml:5: unknown instruction `Expp2`; did you mean Exp2,"),
            (block("instructions = ['exp2']"), "mine.toml:5: `exp2` is spelled `Exp2`"),
            (block("instructions = ['OpDPdx']"), "mine.toml:5: no case can run `OpDPdx`: derivatives"),
            (block("scalars = ['f23']"), "mine.toml:6: unknown type `f23`; did you mean f16, f32"),
            (block("scalars = ['f64']"), "mine.toml:6: no instruction of this block takes the type `f64`"),
            (block("shapes = ['mat2x2']"), "mine.toml:6: no instruction of this block takes the shape `mat2x2`"),
            (block("shapes = ['vec5']"), "mine.toml:6: unknown shape `vec5`; did you mean vec2"),
            (block("modes = ['DenormKeep']"), "mine.toml:5: unknown mode `DenormKeep`; did you mean"),
            (
                block("modes = ['DenormPreserve+DenormFlushToZero']"),
                "mine.toml:5: `DenormPreserve+DenormFlushToZero` combines",
            ),
            (block("modes = ['None+NoContraction']"), "mine.toml:5: `None+NoContraction` combines"),
            (
                block("modes = ['None+SignedZeroInfNanPreserve']"),
                "mine.toml:5: `None+SignedZeroInfNanPreserve` combines modes: flags are declared by FPFastMathDefault",
            ),
            (block("sources = ['image']"), "mine.toml:5: unknown source `image`; did you mean"),
            (block("sources = []"), "mine.toml:3: the block comes to no case"),
            (
                format!("{}\n[[cases]]\ninstructions = []\nmodes = []\nsources = []", block("shapes = ['scalar']")),
                "mine.toml:8: the block comes to no case",
            ),
            (block("sources = ['buffer', 'buffer']"), "mine.toml:5: `buffer` stands there twice"),
            (block("instructions = ['Exp2', 'Exp2']"), "mine.toml:5: `Exp2` stands there twice"),
            (block("modes = ['default', 'default']"), "mine.toml:5: `default` stands there twice"),
            (
                format!("{0}\n[[cases]]{1}", block("shapes = ['scalar']"), &block("shapes = ['scalar']")[19..]),
                "mine.toml:7: `mine.f16.exp2.scalar.default` comes out of an earlier block, too",
            ),
            ("why = 'x'\ncases = 7".to_owned(), "mine.toml:2: invalid type"),
            ("why = 'x".to_owned(), "mine.toml:1: "),
        ] {
            let error = read(&text).map(|cases| cases.len()).expect_err(expected);
            assert!(error.contains(expected), "{error}\n  is not\n{expected}\n{text}");
        }
    }
}
