//! Parser of AmberScript.

use super::data_type::{self, DataType, LayoutRules, StructMember, StructType};
use super::embedded_shader::{EmbeddedShader, ShaderForm};
use super::lexer::{Lexer, Word};
use super::pipeline::Pipeline;
use super::{ScriptError, new_sequence};
use crate::sequence::{
    Action, Comparator, ElementCondition, MAX_CONDITIONS, MAX_MEMORY, MAX_STEPS, Sequence, Step, Tolerance,
};
use crate::{CompileOptions, ImageConfig, SamplerConfig};
use assay_files::input;
use assay_oracle::Robustness;
use assay_precision::Scalar;
use assay_spirv::TargetEnv;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// Parser of a script.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    /// Folder of the script.
    folder: &'a Path,
    compile: &'a CompileOptions,
    sequence: Sequence,
    structs: BTreeMap<String, DataType>,
    samplers: BTreeMap<String, SamplerConfig>,
    shaders: BTreeMap<String, EmbeddedShader>,
    /// Index of each compiled shader, by name and entry point.
    compiled: BTreeMap<(String, Option<String>), usize>,
    virtual_files: BTreeMap<String, String>,
    pipelines: BTreeMap<String, Pipeline>,
}

/// Parses a script.
///
/// # Errors
/// As [`super::parse`].
pub(super) fn parse(name: &str, folder: &Path, text: &str, compile: &CompileOptions) -> Result<Sequence, ScriptError> {
    let mut parser = Parser {
        lexer: Lexer::new(text, 1),
        folder,
        compile,
        sequence: new_sequence(name),
        structs: BTreeMap::new(),
        samplers: BTreeMap::new(),
        shaders: BTreeMap::new(),
        compiled: BTreeMap::new(),
        virtual_files: BTreeMap::new(),
        pipelines: BTreeMap::new(),
    };
    while let Some(command) = parser.lexer.next_word() {
        parser.command(&command)?;
    }
    Ok(parser.sequence)
}

impl Parser<'_> {
    fn command(&mut self, command: &Word) -> Result<(), ScriptError> {
        match command.text.as_str() {
            "SHADER" => self.shader_block(),
            "BUFFER" => self.buffer(),
            "IMAGE" => self.image(),
            "SAMPLER" => self.sampler_block(),
            "STRUCT" => self.structure(),
            "PIPELINE" => {
                let kind = self.lexer.expect("the kind of the pipeline")?;
                if kind.text != "compute" {
                    let what = format!("it is not a compute script: it has a {} pipeline", kind.text);
                    return Err(self.lexer.error(what));
                }
                let name = self.lexer.expect("the name of the pipeline")?;
                let pipeline = self.pipeline_body(Pipeline::default())?;
                self.add_pipeline(&name, pipeline)
            }
            "DERIVE_PIPELINE" => {
                let name = self.lexer.expect("the name of the pipeline")?;
                self.lexer.must_take("FROM")?;
                let parent = self.lexer.expect("the name of a pipeline")?;
                let parent = self.pipeline(&parent)?.clone();
                let pipeline = self.pipeline_body(parent)?;
                self.add_pipeline(&name, pipeline)
            }
            "REPEAT" => self.repeat(),
            "RUN" | "EXPECT" | "COPY" => self.step(command),
            "VIRTUAL_FILE" => {
                let path = self.lexer.expect("the path of the file")?;
                self.lexer.end_line()?;
                let (text, _) = self.lexer.body()?;
                self.virtual_files.insert(path.text, text.to_owned());
                Ok(())
            }
            "DEVICE_FEATURE" => {
                let feature = self.lexer.expect("the name of the feature")?;
                if feature.text == "robustBufferAccess" {
                    self.sequence.robustness = Robustness::Access;
                }
                self.lexer.end_line()
            }
            "DEVICE_EXTENSION" | "DEVICE_PROPERTY" | "INSTANCE_EXTENSION" => {
                self.lexer.expect("a name")?;
                self.lexer.skip_line();
                Ok(())
            }
            "SET" => {
                self.lexer.must_take("ENGINE_DATA")?;
                self.lexer.skip_line();
                Ok(())
            }
            "CLEAR" | "CLEAR_COLOR" | "CLEAR_DEPTH" | "CLEAR_STENCIL" | "ACCELERATION_STRUCTURE" => {
                let what = format!("it is not a compute script: it has the command {}", command.text);
                Err(ScriptError { line: command.line, what })
            }
            other => Err(ScriptError { line: command.line, what: format!("unknown command `{other}`") }),
        }
    }

    fn add_pipeline(&mut self, name: &Word, pipeline: Pipeline) -> Result<(), ScriptError> {
        if self.pipelines.insert(name.text.clone(), pipeline).is_some() {
            let what = format!("the pipeline `{}` is declared twice", name.text);
            return Err(ScriptError { line: name.line, what });
        }
        Ok(())
    }

    fn pipeline(&self, name: &Word) -> Result<&Pipeline, ScriptError> {
        let unknown = || ScriptError { line: name.line, what: format!("unknown pipeline `{}`", name.text) };
        self.pipelines.get(&name.text).ok_or_else(unknown)
    }

    /// Returns the index of a memory.
    pub(super) fn memory(&self, name: &Word) -> Result<usize, ScriptError> {
        let found = self.sequence.memories.iter().position(|memory| memory.name == name.text);
        found.ok_or_else(|| ScriptError { line: name.line, what: format!("unknown buffer `{}`", name.text) })
    }

    /// Returns a sampler.
    pub(super) fn sampler(&self, name: &Word) -> Result<SamplerConfig, ScriptError> {
        let found = self.samplers.get(&name.text).cloned();
        found.ok_or_else(|| ScriptError { line: name.line, what: format!("unknown sampler `{}`", name.text) })
    }

    /// Compiles a shader for an entry point, unless that was done. Returns its index.
    pub(super) fn shader(&mut self, name: &Word, entry: Option<&str>) -> Result<usize, ScriptError> {
        let key = (name.text.clone(), entry.map(str::to_owned));
        if let Some(index) = self.compiled.get(&key) {
            return Ok(*index);
        }
        let unknown = || ScriptError { line: name.line, what: format!("unknown compute shader `{}`", name.text) };
        let shader = self.shaders.get(&name.text).ok_or_else(unknown)?;
        let compiled = shader.compile(&self.sequence.name, entry, self.compile)?;
        self.sequence.shaders.push(compiled);
        let index = self.sequence.shaders.len() - 1;
        self.compiled.insert(key, index);
        Ok(index)
    }

    /// `SHADER type name form [TARGET_ENV env] [VIRTUAL_FILE path | FILE path]`, text, `END`
    fn shader_block(&mut self) -> Result<(), ScriptError> {
        let line = self.lexer.line();
        let kind = self.lexer.expect("the type of the shader")?;
        let name = self.lexer.expect("the name of the shader")?;
        let form = self.lexer.expect("the form of the shader")?;
        let mut target_env = None;
        if self.lexer.takes("TARGET_ENV") {
            let name = self.lexer.expect("the target environment")?;
            target_env = Some(name.text.parse::<TargetEnv>().map_err(|error| self.lexer.error(error.to_string()))?);
        }
        let from = self.lexer.word();
        let (contents, first) = match &from {
            None if form.text == "PASSTHROUGH" => (Vec::new(), line),
            None => {
                let (text, first) = self.lexer.body()?;
                (text.as_bytes().to_vec(), first)
            }
            Some(word) => {
                let path = self.lexer.expect("the path of a file")?;
                let contents = match word.text.as_str() {
                    "VIRTUAL_FILE" => {
                        let text = self.virtual_files.get(&path.text);
                        text.map(|text| text.as_bytes().to_vec())
                            .ok_or_else(|| self.lexer.error(format!("unknown virtual file `{}`", path.text)))?
                    }
                    "FILE" => self.file(&path.text)?,
                    other => return Err(self.lexer.error(format!("SHADER: unexpected `{other}`"))),
                };
                (contents, line)
            }
        };
        if !["compute", "multi"].contains(&kind.text.as_str()) {
            // Only pipelines that are not supported use it.
            return Ok(());
        }
        let form = match form.text.as_str() {
            "GLSL" => ShaderForm::Glsl,
            "HLSL" => ShaderForm::Hlsl,
            "SPIRV-ASM" => ShaderForm::SpirvText,
            "SPIRV-HEX" => ShaderForm::SpirvHex,
            "SPIRV-BIN" => ShaderForm::SpirvBinary,
            "OPENCL-C" => return Err(self.unsupported(&form, "OpenCL C has no compiler here")),
            other => return Err(self.lexer.error(format!("unknown form of a shader `{other}`"))),
        };
        let name = name.text;
        self.shaders.insert(name.clone(), EmbeddedShader { name, form, contents, target_env, line: first });
        Ok(())
    }

    /// Returns the contents of a file below the folder of the script.
    fn file(&self, path: &str) -> Result<Vec<u8>, ScriptError> {
        let path =
            input::resolve_below(self.folder, Path::new(path)).map_err(|error| self.lexer.error(error.to_string()))?;
        let contents = input::read(&path, MAX_MEMORY);
        contents.map_err(|error| self.lexer.error(format!("cannot read {}: {error}", path.display())))
    }

    /// `STRUCT name [STRIDE bytes]`, members, `END`
    fn structure(&mut self) -> Result<(), ScriptError> {
        let name = self.lexer.expect("the name of the structure")?;
        let mut of = StructType::default();
        if self.lexer.takes("STRIDE") {
            of.stride = Some(self.lexer.number::<u32>("the stride")?.into());
        }
        self.lexer.end_line()?;
        loop {
            let Some(ty) = self.lexer.next_word() else {
                return Err(self.lexer.error("END of the structure is missing"));
            };
            if ty.text == "END" {
                break;
            }
            let element = self.data_type(&ty)?;
            self.lexer.expect("the name of the member")?;
            let mut offset = None;
            while let Some(word) = self.lexer.word() {
                match word.text.as_str() {
                    "OFFSET" => offset = Some(self.lexer.number::<u32>("the offset")?.into()),
                    _ => return Err(self.unsupported(&word, "strides of members follow from the layout rules")),
                }
            }
            of.members.push(StructMember { ty: element, offset });
        }
        let structure = DataType::Struct(Rc::new(of));
        // Structures of structures grow exponentially with their number.
        structure.must_be_small().map_err(|what| ScriptError { line: name.line, what })?;
        self.structs.insert(name.text, structure);
        Ok(())
    }

    /// Returns a type, also an array of fixed size, such as `float[4]`.
    fn data_type(&self, word: &Word) -> Result<DataType, ScriptError> {
        let wrong = || ScriptError { line: word.line, what: format!("unknown data type `{}`", word.text) };
        if let Some(known) = self.structs.get(&word.text) {
            return Ok(known.clone());
        }
        match word.text.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
            Some((element, digits)) if !digits.is_empty() => {
                let count = digits.parse().map_err(|_| wrong())?;
                let element = Word { text: element.to_owned(), line: word.line };
                Ok(DataType::Array { element: Box::new(self.element_type(&element)?), count })
            }
            _ => DataType::parse(&word.text).ok_or_else(wrong),
        }
    }

    /// Returns the type of an array's elements, which is not an array itself.
    fn element_type(&self, word: &Word) -> Result<DataType, ScriptError> {
        let known = self.structs.get(&word.text).cloned().or_else(|| DataType::parse(&word.text));
        known.ok_or_else(|| ScriptError { line: word.line, what: format!("unknown data type `{}`", word.text) })
    }

    /// `BUFFER name DATA_TYPE type [STD140|STD430] [SIZE n | WIDTH w HEIGHT h] initializer`
    fn buffer(&mut self) -> Result<(), ScriptError> {
        let line = self.lexer.line();
        let name = self.lexer.expect("the name of the buffer")?;
        let form = self.lexer.expect("DATA_TYPE")?;
        match form.text.as_str() {
            "DATA_TYPE" => {}
            "FORMAT" => {
                return Err(self.unsupported(&form, "buffers with a format are attachments of graphics pipelines"));
            }
            other => return Err(self.lexer.error(format!("expected DATA_TYPE, not `{other}`"))),
        }
        let ty = self.lexer.expect("the data type")?;
        let ty = self.data_type(&ty)?;
        let mut rules = LayoutRules::Std430;
        if self.lexer.takes("STD140") {
            rules = LayoutRules::Std140;
        } else {
            self.lexer.takes("STD430");
        }
        let mut size = None;
        let mut image = ImageConfig { format: ty.texel().and_then(|texel| texel.spirv), ..ImageConfig::default() };
        if self.lexer.takes("SIZE") {
            size = Some(self.lexer.number::<u64>("the number of elements")?);
        } else if self.lexer.takes("WIDTH") {
            let width: u32 = self.lexer.number("the width")?;
            self.lexer.must_take("HEIGHT")?;
            let height: u32 = self.lexer.number("the height")?;
            (image.size, image.levels) = (Some(vec![width, height]), Some(1));
            size = Some(u64::from(width) * u64::from(height));
        }
        let bytes = self.initial_bytes(&ty, rules, size)?;
        self.sequence.add_memory(line, (&name.text, bytes), (&ty, rules), image).map(drop)
    }

    /// `IMAGE name FORMAT format | DATA_TYPE type .. DIM_2D WIDTH w HEIGHT h .. initializer`
    fn image(&mut self) -> Result<(), ScriptError> {
        const INITIALIZERS: [&str; 3] = ["DATA", "FILL", "SERIES_FROM"];
        let line = self.lexer.line();
        let name = self.lexer.expect("the name of the image")?;
        let (mut ty, mut axes) = (None, 2);
        let mut sides = [1u32; 3];
        let mut samples = 1;
        while let Some(word) = self.lexer.peek().filter(|word| !INITIALIZERS.contains(&word.text.as_str())) {
            self.lexer.word();
            match word.text.as_str() {
                "FORMAT" | "DATA_TYPE" => {
                    let word = self.lexer.expect("the type of a texel")?;
                    ty = Some(self.data_type(&word)?);
                }
                "DIM_1D" => axes = 1,
                "DIM_2D" => axes = 2,
                "DIM_3D" => axes = 3,
                "WIDTH" => sides[0] = self.lexer.number("the width")?,
                "HEIGHT" => sides[1] = self.lexer.number("the height")?,
                "DEPTH" => sides[2] = self.lexer.number("the depth")?,
                "SAMPLES" => samples = self.lexer.number("the number of samples")?,
                "MIP_LEVELS" if self.lexer.number::<u32>("the number of mip levels")? != 1 => {
                    return Err(self.unsupported(&word, "mip levels"));
                }
                "MIP_LEVELS" => {}
                other => return Err(self.lexer.error(format!("IMAGE: unexpected `{other}`"))),
            }
        }
        let ty = ty.ok_or_else(|| self.lexer.error("IMAGE: FORMAT or DATA_TYPE is missing"))?;
        let format = ty.texel().and_then(|texel| texel.spirv);
        let format = format.ok_or_else(|| self.lexer.error("IMAGE: the texels have no format of SPIR-V"))?;
        let slices = u64::from(samples);
        let texels = sides.iter().fold(slices, |texels, side| texels.saturating_mul(u64::from(*side)));
        if texels == 0 {
            return Err(self.lexer.error("IMAGE: a side, or the number of samples, is 0"));
        }
        let image = ImageConfig {
            size: Some(sides[..axes].to_vec()),
            levels: Some(1),
            samples: Some(samples),
            format: Some(format),
            ..ImageConfig::default()
        };
        let bytes = self.initial_bytes(&ty, LayoutRules::Std430, Some(texels))?;
        self.sequence.add_memory(line, (&name.text, bytes), (&ty, LayoutRules::Std430), image).map(drop)
    }

    /// Returns the initial contents: `DATA`, values, `END`; `FILL value`; `SERIES_FROM first INC_BY
    /// step`; `FILE TEXT|BINARY path`; otherwise zeros.
    fn initial_bytes(&mut self, ty: &DataType, rules: LayoutRules, size: Option<u64>) -> Result<Vec<u8>, ScriptError> {
        let layout = ty.layout(rules).map_err(|what| self.lexer.error(what))?;
        let scalars = layout.scalars.len() as u64;
        let whole = size.and_then(|elements| elements.checked_mul(layout.stride));
        if size.is_some() && whole.is_none_or(|bytes| bytes == 0 || bytes > MAX_MEMORY) {
            return Err(self.lexer.error(format!("the size is 0, or more than {MAX_MEMORY} bytes")));
        }
        let count = size.map(|elements| elements * scalars);
        let needs_size = |parser: &Self| count.ok_or_else(|| parser.lexer.error("SIZE is missing"));
        let Some(word) = self.lexer.word() else {
            let bytes = whole.ok_or_else(|| self.lexer.error("the initial contents are missing"))?;
            return Ok(vec![0; bytes as usize]);
        };
        let at_line = |what: String| ScriptError { line: word.line, what };
        let bytes = match word.text.as_str() {
            "DATA" => data_type::bytes_of(&layout, &self.values_to_end()?)?,
            "FILL" => {
                let value = self.lexer.expect("the value")?;
                data_type::fill(&layout, needs_size(self)?, &value.text).map_err(at_line)?
            }
            "SERIES_FROM" => {
                let first = self.lexer.expect("the first value")?;
                self.lexer.must_take("INC_BY")?;
                let step = self.lexer.expect("the increment")?;
                data_type::series(&layout, needs_size(self)?, &first.text, &step.text).map_err(at_line)?
            }
            "FILE" => {
                let form = self.lexer.expect("TEXT, BINARY or PNG")?;
                let path = self.lexer.expect("the path of a file")?;
                let contents = self.file(&path.text)?;
                // A file may be longer than the declared size, as in Amber.
                return match form.text.as_str() {
                    "BINARY" => Ok(contents),
                    "TEXT" => {
                        let text = String::from_utf8_lossy(&contents);
                        let mut words = Lexer::new(&text, 1);
                        let values = std::iter::from_fn(|| words.next_word()).map(|word| (word.text, path.line));
                        data_type::bytes_of(&layout, &values.collect::<Vec<_>>())
                    }
                    _ => Err(self.unsupported(&form, "only TEXT and BINARY files are read")),
                };
            }
            other => return Err(self.lexer.error(format!("unexpected `{other}`"))),
        };
        if bytes.is_empty() {
            return Err(self.lexer.error("the contents are empty"));
        }
        self.sized(bytes, whole)
    }

    /// Fills contents up to the declared size.
    fn sized(&self, mut bytes: Vec<u8>, size: Option<u64>) -> Result<Vec<u8>, ScriptError> {
        let Some(size) = size else { return Ok(bytes) };
        if bytes.len() as u64 > size {
            return Err(self.lexer.error(format!("the contents have {} bytes, and the size is {size}", bytes.len())));
        }
        bytes.resize(size as usize, 0);
        Ok(bytes)
    }

    /// Returns the values up to `END`, with their lines.
    fn values_to_end(&mut self) -> Result<Vec<(String, usize)>, ScriptError> {
        let mut values = Vec::new();
        while let Some(word) = self.lexer.next_word() {
            if word.text == "END" {
                return Ok(values);
            }
            values.push((word.text, word.line));
        }
        Err(self.lexer.error("END of the data is missing"))
    }

    /// `SAMPLER name`, options
    fn sampler_block(&mut self) -> Result<(), ScriptError> {
        let name = self.lexer.expect("the name of the sampler")?;
        let mut address = ["repeat", "repeat", "repeat"].map(str::to_owned);
        let mut filters = ["nearest", "nearest"].map(str::to_owned);
        let (mut border, mut compare, mut compare_op) = (None, false, "never".to_owned());
        let mut unnormalized = false;
        while let Some(word) = self.lexer.word() {
            let mut value = || self.lexer.expect("the value of the option").map(|word| word.text);
            match word.text.as_str() {
                "MAG_FILTER" => filters[0] = value()?,
                "MIN_FILTER" => filters[1] = value()?,
                "ADDRESS_MODE_U" => address[0] = value()?.replace("mirrored_clamp", "mirror_clamp"),
                "ADDRESS_MODE_V" => address[1] = value()?.replace("mirrored_clamp", "mirror_clamp"),
                "ADDRESS_MODE_W" => address[2] = value()?.replace("mirrored_clamp", "mirror_clamp"),
                "BORDER_COLOR" => border = Some(value()?),
                // Images have one mip level.
                "MIN_LOD" | "MAX_LOD" => _ = value()?,
                "NORMALIZED_COORDS" => unnormalized = false,
                "UNNORMALIZED_COORDS" => unnormalized = true,
                "COMPARE" => compare = value()? == "on",
                "COMPARE_OP" => compare_op = value()?,
                other => return Err(self.lexer.error(format!("SAMPLER: unexpected `{other}`"))),
            }
        }
        if filters[0] != filters[1] {
            return Err(self.unsupported(&name, "its filters for magnification and minification differ"));
        }
        let sampler = SamplerConfig {
            filter: Some(filters[0].clone()),
            address: Some(address.to_vec()),
            border,
            compare: compare.then_some(compare_op),
            unnormalized: Some(unnormalized),
            ..SamplerConfig::default()
        };
        sampler.sampler().map_err(|error| self.lexer.error(error.to_string()))?;
        self.samplers.insert(name.text, sampler);
        Ok(())
    }

    /// `REPEAT count`, steps, `END`
    fn repeat(&mut self) -> Result<(), ScriptError> {
        let count: usize = self.lexer.number("the number of repetitions")?;
        self.lexer.end_line()?;
        let first = self.sequence.steps.len();
        loop {
            let Some(command) = self.lexer.next_word() else {
                return Err(self.lexer.error("END of REPEAT is missing"));
            };
            match command.text.as_str() {
                "END" => break,
                "RUN" | "EXPECT" | "COPY" => self.step(&command)?,
                _ => return Err(self.unsupported(&command, "REPEAT takes RUN, EXPECT and COPY")),
            }
        }
        let body = self.sequence.steps.split_off(first);
        let conditions: usize = body.iter().map(|step| step.action.conditions()).sum();
        if first.saturating_add(body.len().saturating_mul(count)) > MAX_STEPS
            || conditions.saturating_mul(count) > MAX_CONDITIONS
        {
            let what = format!("the repetitions make more than {MAX_STEPS} steps, or {MAX_CONDITIONS} conditions");
            return Err(self.lexer.error(what));
        }
        for _ in 0..count {
            self.sequence.steps.extend(body.iter().cloned());
        }
        Ok(())
    }

    /// `RUN`, `EXPECT` or `COPY`
    fn step(&mut self, command: &Word) -> Result<(), ScriptError> {
        let (text, action) = match command.text.as_str() {
            "RUN" => self.run()?,
            "COPY" => {
                let from = self.lexer.expect("the name of a buffer")?;
                self.lexer.must_take("TO")?;
                let to = self.lexer.expect("the name of a buffer")?;
                self.lexer.end_line()?;
                let [source, destination] = [self.memory(&from)?, self.memory(&to)?];
                let [a, b] = [source, destination].map(|index| self.sequence.memories[index].bytes.len());
                if a != b {
                    let what = format!("COPY: `{}` has {a} bytes, and `{}` has {b}", from.text, to.text);
                    return Err(ScriptError { line: command.line, what });
                }
                (format!("COPY {} TO {}", from.text, to.text), Action::Copy { from: source, to: destination })
            }
            _ => self.expectation()?,
        };
        self.sequence.add_step(Step { line: command.line, text, action })
    }

    /// `RUN [TIMED_EXECUTION] pipeline x y z`
    fn run(&mut self) -> Result<(String, Action), ScriptError> {
        self.lexer.takes("TIMED_EXECUTION");
        let name = self.lexer.expect("the name of the pipeline")?;
        let Pipeline { is_complete, mut dispatch } = self.pipeline(&name)?.clone();
        if !is_complete {
            return Err(self.lexer.error(format!("no shader is attached to the pipeline `{}`", name.text)));
        }
        for count in &mut dispatch.workgroups {
            *count = self.lexer.number("the number of workgroups")?;
            if *count == 0 {
                return Err(self.lexer.error("the number of workgroups is 0"));
            }
        }
        self.lexer.end_line()?;
        let [x, y, z] = dispatch.workgroups;
        Ok((format!("RUN {} {x} {y} {z}", name.text), Action::Dispatch(Box::new(dispatch))))
    }

    /// `EXPECT buffer IDX .. | EQ_BUFFER buffer`
    fn expectation(&mut self) -> Result<(String, Action), ScriptError> {
        let name = self.lexer.expect("the name of the buffer")?;
        let memory = self.memory(&name)?;
        let what = self.lexer.expect("IDX or EQ_BUFFER")?;
        match what.text.as_str() {
            "IDX" => {}
            "EQ_BUFFER" => {
                let other = self.lexer.expect("the name of a buffer")?;
                let expected = self.memory(&other)?;
                self.lexer.end_line()?;
                let size = |index: usize| self.sequence.memories[index].bytes.len();
                if size(memory) != size(expected) {
                    return Err(ScriptError { line: what.line, what: "EQ_BUFFER: the sizes differ".to_owned() });
                }
                let text = format!("EXPECT {} EQ_BUFFER {}", name.text, other.text);
                return Ok((text, Action::ExpectEqual { memory, expected, tolerance: None }));
            }
            "RMSE_BUFFER" | "EQ_HISTOGRAM_EMD_BUFFER" => {
                return Err(self.unsupported(&what, "a mean error says nothing of single elements"));
            }
            other => return Err(self.lexer.error(format!("EXPECT: unexpected `{other}`"))),
        }
        let first: u64 = self.lexer.number("the index")?;
        let second = self.lexer.peek().and_then(|word| word.text.parse::<u64>().ok());
        if let Some(second) = second {
            self.lexer.word();
            return self.expected_rectangle((&name, memory), [first, second]);
        }
        let tolerances = self.tolerances()?;
        let word = self.lexer.expect("a comparison")?;
        let comparator = match word.text.as_str() {
            "EQ" => Comparator::Equal,
            "NE" => Comparator::NotEqual,
            "LT" => Comparator::Less,
            "LE" => Comparator::LessOrEqual,
            "GT" => Comparator::Greater,
            "GE" => Comparator::GreaterOrEqual,
            other => return Err(self.lexer.error(format!("unknown comparison `{other}`"))),
        };
        let mut values = Vec::new();
        while let Some(word) = self.lexer.word() {
            values.push((word.text, word.line));
        }
        let named = &self.sequence.memories[memory];
        if values.is_empty() || !first.is_multiple_of(named.layout.stride) {
            let stride = named.layout.stride;
            return Err(self.lexer.error(format!("EXPECT needs values, and an offset that is a multiple of {stride}")));
        }
        let elements = data_type::conditions(&named.layout, first, comparator, &values, &tolerances)?;
        let outside = |element: &ElementCondition| element.element().read(&named.bytes).is_none();
        if elements.iter().any(outside) {
            return Err(self.lexer.error(format!(
                "the values go beyond the {} bytes of `{}`",
                named.bytes.len(),
                name.text
            )));
        }
        Ok((format!("EXPECT {} IDX {first} {}", name.text, word.text), Action::Expect { memory, elements }))
    }

    /// `TOLERANCE number[%]..`, if it is there
    fn tolerances(&mut self) -> Result<Vec<Tolerance>, ScriptError> {
        let mut tolerances = Vec::new();
        if !self.lexer.takes("TOLERANCE") {
            return Ok(tolerances);
        }
        while let Some(word) = self.lexer.peek() {
            let Ok(tolerance) = word.text.parse::<Tolerance>() else { break };
            self.lexer.word();
            let percent = self.lexer.takes("%");
            tolerances.push(match tolerance {
                Tolerance::Absolute(number) if percent => Tolerance::Relative(number / 100.0),
                other => other,
            });
        }
        if tolerances.is_empty() {
            return Err(self.lexer.error("TOLERANCE needs a number"));
        }
        Ok(tolerances)
    }

    /// `IDX x y SIZE w h EQ_RGB|EQ_RGBA r g b [a] [TOLERANCE ..]`
    fn expected_rectangle(
        &mut self,
        (name, memory): (&Word, usize),
        [x, y]: [u64; 2],
    ) -> Result<(String, Action), ScriptError> {
        /// Largest difference of a texel in Amber.
        const USUAL: f64 = 0.002;
        self.lexer.must_take("SIZE")?;
        let width: u64 = self.lexer.number("the width")?;
        let height: u64 = self.lexer.number("the height")?;
        let word = self.lexer.expect("EQ_RGB or EQ_RGBA")?;
        let channels = match word.text.as_str() {
            "EQ_RGB" => 3,
            "EQ_RGBA" => 4,
            other => return Err(self.lexer.error(format!("unknown comparison `{other}`"))),
        };
        let mut color = [0u8; 4];
        for value in &mut color[..channels] {
            *value = self.lexer.number("a channel from 0 to 255")?;
        }
        let given = self.tolerances()?;
        self.lexer.end_line()?;
        let named = &self.sequence.memories[memory];
        let texel = named.image.format.as_deref();
        let scalars = &named.layout.scalars;
        let size = named.image.size.clone().unwrap_or_default();
        let (Some(format), &[wide, high]) = (texel, size.as_slice()) else {
            return Err(self.unsupported(&word, "the memory is not a two-dimensional image"));
        };
        if named.image.samples.is_some_and(|samples| samples > 1) {
            return Err(self.unsupported(&word, "a rectangle of a multisampled image"));
        }
        let is_unorm = format == "Rgba8";
        if scalars.len() < channels || !(is_unorm || matches!(scalars[0].scalar, Scalar::Float(_))) {
            return Err(self.unsupported(&word, "the image has neither eight-bit nor floating-point channels"));
        }
        if x.saturating_add(width) > u64::from(wide) || y.saturating_add(height) > u64::from(high) {
            return Err(self.lexer.error(format!("the rectangle goes beyond the image of {wide} x {high} texels")));
        }
        if width.saturating_mul(height) > MAX_CONDITIONS as u64 / 4 {
            return Err(self.lexer.error(format!("the rectangle has more than {} texels", MAX_CONDITIONS / 4)));
        }
        let per_texel = scalars.len() as u64;
        let mut elements = Vec::new();
        for row in y..y + height {
            for column in x..x + width {
                for (channel, value) in (0..).zip(&color[..channels]) {
                    let index = (row * u64::from(wide) + column) * per_texel + channel;
                    let element = named.layout.element(index);
                    let scale = if is_unorm { 255.0 } else { 1.0 };
                    let tolerance = given.get(channel as usize).or_else(|| given.first()).copied();
                    let tolerance = match tolerance {
                        Some(Tolerance::Absolute(number)) => Tolerance::Absolute(number * scale),
                        Some(relative) => relative,
                        None => Tolerance::Absolute(USUAL * scale),
                    };
                    let value = if is_unorm { u64::from(*value) } else { (f64::from(*value) / 255.0).to_bits() };
                    elements.push(ElementCondition {
                        offset: element.offset,
                        scalar: element.scalar,
                        path: format!("({column}, {row}).{}", ["r", "g", "b", "a"][channel as usize]),
                        comparator: Comparator::Equal,
                        value,
                        tolerance: Some(tolerance),
                    });
                }
            }
        }
        Ok((format!("EXPECT {} IDX {x} {y} {}", name.text, word.text), Action::Expect { memory, elements }))
    }
}
