//! Arguments of `assay check`.

use super::execution_args::ExecutionArgs;
use crate::{
    common_args::{Api, CompileArgs, whole_number},
    exit::{Failure, usage},
    run::RunArgs,
};
use assay_check::{
    AddressWord, BindingName, BindingSource, CaseFile, Check, CheckError, CheckSession, Diagnosis, Mutation, Options,
    assignment, subgroup_size,
};
use assay_exec::Descriptor;
use assay_oracle::Robustness;
use assay_reports::plural;
use clap::Args;
use std::path::PathBuf;

/// End of `assay check --help`.
pub(crate) const HELP: &str = "\
FILE:
  WGSL (.wgsl), GLSL (.comp, .glsl, or #version in the first line), HLSL
  (.hlsl, .compute), Slang (.slang), a case file (.toml), a SPIR-V binary if it
  starts with the magic number, else SPIR-V text. An installed compiler (glslc,
  glslang, dxc, slangc) compiles GLSL, HLSL and Slang. A case file names a
  shader and sets the options below, or lists several dispatches over shared
  buffers; so does an Amber script (.amber, .vkscript). Each dispatch of such
  a sequence is judged from the contents that the device left before it. A
  family of precision cases runs as `assay run` would run it. So do all
  shaders, scripts and case files below a folder: in worker processes, with
  one report, and resumable.

Inputs:
  A BINDING is SET.BINDING, BINDING (in set 0) or a variable's name, with [N]
  for one element of a descriptor array; BINDING.MEMBER, BINDING[INDEX] and
  BINDING@BYTE select scalars of a buffer, as does MEMBER alone if one buffer
  has it. Without an index, MEMBER is that of all elements of an array. CONTENTS
  is one of:
    usual        floats of moderate size, small integers (default, round 0)
    hard         special values, their neighbours, any bits (default, round 1)
    -1.5..2      random numbers from a range, uniformly
    NUMBER       this number everywhere; also zeros and ones
    0/1/2        one of these numbers in each round, in turn
    32,16        these numbers for the scalars of a vector or array, in order
    index        0, 1, 2, ..
    one-of:0,1   one of these numbers in each scalar, by chance
    PATH         the bytes of a file
  Run-time arrays and texel buffers have one element per invocation unless
  --elements sets another length. Images have one texel per invocation along
  each axis, sampled images at least 16, unless --image-size sets another
  size; by default each texel encodes its coordinates. Samplers are nearest
  and clamped in round 0, linear and repeating in round 1. A case file can set
  other samplers and images.
  Buffers with device addresses (--buffer, or [buffer] in a case file) are
  allocated first. Their addresses are stored as --address (or [address])
  says, before the interpreter and the device run. Every other word of push
  constants and buffers from which the shader gets a physical pointer leads to
  a buffer of the pointer's type, with the name of the word.

What is checked:
  Assay compares every scalar of every storage buffer, storage image and
  storage texel buffer with its permitted set. Where the output says little,
  it checks the results of the shader's computations one by one, each for the
  operands that the device recorded. A Pass requires written elements that
  could have come out wrong, or most computations checked one by one; without
  either, the status is Undetermined and the exit code 3. A shader that
  violates a rule of SPIR-V is refused; no device runs it. So is one whose
  behaviour is undefined with its inputs, unless a variant without that can be
  judged: the verdict is a QualityWarning then.
  If the device fails, Assay reruns an instrumented shader that records
  intermediate results, and reports the first instruction whose recorded
  result is not permitted for its recorded operands.

Examples:
  assay check shader.wgsl
  assay check blur.comp --define RADIUS=3 --include shaders
  assay check blur.spv --workgroups 8,8 --input 0.0=image.raw --spec 3=16
  assay check scale.spv --push count=4096,factor=0.5 --input params.stride=4
  assay check sort.wgsl --elements 65536 --device all
  assay check shader.wgsl --mutate ulp:4@OpFMul --out found
  assay repro found/bundle";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Shader, script or case file, or a folder of them
    #[arg(value_name = "FILE|DIR")]
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) dispatch: DispatchArgs,

    #[command(flatten)]
    pub(super) execution: ExecutionArgs,

    /// Write the verdict, and a bundle that reproduces a failure, into this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Show the derivation of the first wrong element: each instruction with its operands, result
    /// and permitted set
    #[arg(long, conflicts_with = "no_trace")]
    pub(super) explain: bool,

    /// Rerun instrumented variants of the shader (default): if the device fails, to find the first
    /// wrong instruction; if the output says little, to check the instructions by themselves
    #[arg(long)]
    pub(super) trace: bool,

    /// Run no instrumented variants for that
    #[arg(long, conflicts_with = "trace")]
    pub(super) no_trace: bool,

    /// Reduce a failing shader for up to five minutes while the same instruction fails, or the
    /// driver ends, in the same way, and bundle the result
    #[arg(long)]
    pub(super) reduce: bool,

    /// Compare another translation of the shader instead of a device: a file, or `spirv-opt` (run
    /// with -O)
    #[arg(long, value_name = "FILE|spirv-opt", conflicts_with_all = ["mutate", "out", "reduce", "sample", "json"])]
    pub(super) against: Option<PathBuf>,

    /// Interpret the shader without a device: undefined behaviour, and expectations of the case
    /// file
    ///
    /// The exit code is 0 if a round is defined and no expectation fails.
    #[arg(
        long,
        conflicts_with_all = [
            "against", "mutate", "out", "reduce", "explain", "trace", "no_trace", "device", "api", "validation", "isolate"
        ]
    )]
    pub(super) no_device: bool,

    /// Plant an error in the module that the device receives, to see Assay find it
    ///
    /// KIND is ulp:N, rounding, sign-of-zero, off-by-one, negation, signedness, lost-atomic or
    /// missing-barrier. INSTRUCTION is a name (OpFMul, Sqrt), a result (%12, or %name from OpName),
    /// a position as Assay prints it ('missing-barrier@word 420'), or `last` [default: the first
    /// instruction that fits].
    #[arg(long, value_name = "KIND[@INSTRUCTION]", value_parser = str::parse::<Mutation>)]
    pub(super) mutate: Option<Mutation>,
}

/// Inputs and configuration of the dispatch.
#[derive(Debug, Args)]
pub(super) struct DispatchArgs {
    /// Entry point, if the module has several
    #[arg(long, value_name = "NAME")]
    pub(super) entry: Option<String>,

    #[command(flatten)]
    pub(super) compile: CompileArgs,

    /// Treat warnings as violations
    #[arg(long)]
    pub(super) strict: bool,

    /// Number of workgroups along x, y and z
    #[arg(long, value_name = "X,Y,Z", value_parser = assay_check::groups)]
    pub(super) workgroups: Option<[u32; 3]>,

    /// Specialisation constant by id or name, or WGSL override by name or @id; repeatable
    #[arg(long, value_name = "ID=VALUE", value_parser = assignment)]
    pub(super) spec: Vec<(String, String)>,

    /// Contents of the push constants, as for --input, or values of single ones by name or byte
    /// offset: `ne=2048,size[0]=16,@32=4`; repeatable
    #[arg(long, value_name = "CONTENTS|NAME=VALUE,..")]
    pub(super) push: Vec<String>,

    /// Contents of a binding before the dispatch; repeatable
    #[arg(long, value_name = "BINDING=CONTENTS", value_parser = assignment)]
    pub(super) input: Vec<(String, String)>,

    /// Length of run-time arrays: of all, or of one binding; repeatable
    #[arg(long, value_name = "[BINDING=]N")]
    pub(super) elements: Vec<String>,

    /// Size of an image in texels, one number for each axis; repeatable
    #[arg(long, value_name = "BINDING=WxHxD", value_parser = assignment)]
    pub(super) image_size: Vec<(String, String)>,

    /// Buffer without a binding, which the shader reaches by its device address; repeatable
    ///
    /// COUNT*[NAME:]TYPE,[NAME:]TYPE,..: COUNT records, each laid out as a C structure of scalars
    /// i8 to i64, u8 to u64, f16 to f64. %TYPE: a type of the module behind physical pointers;
    /// COUNT*%TYPE: COUNT elements of its run-time array, or COUNT records. --input NAME=CONTENTS
    /// sets its contents. [default: a buffer for each address that the shader takes from push
    /// constants or buffers]
    #[arg(long, value_name = "NAME=COUNT*TYPES", value_parser = assignment)]
    pub(super) buffer: Vec<(String, String)>,

    /// Store the address of a --buffer as a 64-bit word into the push constants (`push@0=nodes`), a
    /// binding (`0.1@8=nodes+16`) or another --buffer; repeatable
    #[arg(long, value_name = "PLACE@BYTE=BUFFER[+BYTES]", value_parser = assignment)]
    pub(super) address: Vec<(String, String)>,

    /// Robustness of accesses out of bounds: none, access (robustBufferAccess, robustImageAccess)
    /// or access2 (robustBufferAccess2, robustImageAccess2)
    ///
    /// With `none`, an access out of bounds is undefined behaviour of the shader [default: none, or
    /// what the search for parameters chooses].
    #[arg(long, value_name = "NAME", value_parser = assay_check::robustness)]
    pub(super) robustness: Option<Robustness>,

    /// Storage buffer in which the shader itself records its subgroup layout
    ///
    /// One record of three words per invocation, ordered by workgroup and local index: SubgroupId,
    /// SubgroupLocalInvocationId, SubgroupSize [default: if results depend on the layout, an
    /// instrumented shader records it, and the results of that run are checked].
    #[arg(long, value_name = "BINDING", value_parser = str::parse::<BindingName>)]
    pub(super) subgroups: Option<BindingName>,

    /// Required subgroup size (VK_EXT_subgroup_size_control), a power of two
    #[arg(long, value_name = "N", value_parser = required_subgroup_size)]
    pub(super) subgroup_size: Option<u32>,

    /// Require full subgroups (VK_EXT_subgroup_size_control)
    #[arg(long)]
    pub(super) full_subgroups: bool,

    /// Permit benign races: racing stores of one value to one location store that value
    ///
    /// The specification makes every data race undefined behaviour, so the verdict is at best
    /// QualityWarning and names the race.
    #[arg(long)]
    pub(super) benign_races: bool,

    /// Number of rounds, each with different inputs
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..=u64::from(u32::MAX)))]
    pub(super) rounds: Option<u32>,

    /// Interpret a subset of about N invocations, if the dispatch is too large to interpret whole
    ///
    /// The subset has whole workgroups, or where N is less than one and its invocations do not
    /// communicate, parts of some. The device runs the whole dispatch. If the subset does not permit
    /// an element, Assay interprets all invocations, unless that would take too long. Elements that
    /// only other invocations write are not checked.
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    pub(super) sample: Option<u64>,

    /// Factor on the interpreter's time limits, beyond which the shader counts as endless
    ///
    /// The limits are a few seconds for a workgroup, about ten minutes for a dispatch, and
    /// one minute for the check of the instructions by themselves.
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(1..=u64::MAX))]
    pub(super) patience: Option<u64>,

    /// Do not search for other sizes if the default push constants, buffers and workgroups lead to
    /// undefined behaviour or to few written elements
    #[arg(long)]
    pub(super) no_search: bool,

    /// Seed of the inputs; the same seed gives the same inputs on every machine
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(0..=u64::MAX))]
    pub(super) seed: Option<u64>,
}

/// Parses a required subgroup size.
fn required_subgroup_size(text: &str) -> Result<u32, String> {
    let size = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    subgroup_size(size).map_err(|error| error.to_string())
}

impl CheckArgs {
    /// Returns the session of the arguments and the case file.
    pub(super) fn session(&self, case: Option<CaseFile>) -> Result<CheckSession, Failure> {
        let mut options = case.as_ref().map(|case| case.options.clone()).unwrap_or_default();
        self.dispatch.apply(&mut options)?;
        let mut session = CheckSession::load(case, &self.file, self.dispatch.compile.options(), options)?;
        session.mutation = self.mutate.clone();
        session.diagnosis = self.diagnosis();
        Ok(session)
    }

    pub(super) fn diagnosis(&self) -> Diagnosis {
        let trace = self.trace || self.explain || !self.no_trace;
        Diagnosis { trace, derive: self.explain, reduce: self.reduce }
    }

    /// Refuses settings that the API does not have.
    pub(super) fn must_suit(&self, api: Api, session: &CheckSession) -> Result<(), Failure> {
        let Options { robustness, subgroups, subgroup_control, .. } = &session.options;
        let default =
            robustness.unwrap_or_default() == Robustness::None && subgroups.is_none() && subgroup_control.is_default();
        if api != Api::Vulkan && !default {
            return Err(usage(
                "--robustness, --subgroups, --subgroup-size and --full-subgroups, or these settings in the case \
                 file, require --api vulkan",
            ));
        }
        Ok(())
    }

    /// Returns the given options that apply to shaders only, not to precision cases.
    pub(super) fn shader_options(&self) -> Vec<&'static str> {
        let given = &self.dispatch;
        let options = [
            ("--entry", given.entry.is_some()),
            ("--target-env", given.compile.target_env.is_some()),
            ("--define", !given.compile.define.is_empty()),
            ("--include", !given.compile.include.is_empty()),
            ("--strict", given.strict),
            ("--workgroups", given.workgroups.is_some()),
            ("--spec", !given.spec.is_empty()),
            ("--push", !given.push.is_empty()),
            ("--input", !given.input.is_empty()),
            ("--elements", !given.elements.is_empty()),
            ("--image-size", !given.image_size.is_empty()),
            ("--buffer", !given.buffer.is_empty()),
            ("--address", !given.address.is_empty()),
            ("--robustness", given.robustness.is_some()),
            ("--subgroups", given.subgroups.is_some()),
            ("--subgroup-size", given.subgroup_size.is_some()),
            ("--full-subgroups", given.full_subgroups),
            ("--benign-races", given.benign_races),
            ("--rounds", given.rounds.is_some()),
            ("--sample", given.sample.is_some()),
            ("--no-search", given.no_search),
            ("--patience", given.patience.is_some()),
            ("--explain", self.explain),
            ("--trace", self.trace),
            ("--no-trace", self.no_trace),
            ("--reduce", self.reduce),
            ("--against", self.against.is_some()),
            ("--no-device", self.no_device),
            ("--mutate", self.mutate.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }

    /// Checks that no option of a single shader is given, apart from those in `suitable`. `content`
    /// says what the file is; `advice` ends the message.
    pub(super) fn refuse_unsuitable(&self, content: &str, suitable: &[&str], advice: &str) -> Result<(), Failure> {
        let mut unfit = self.shader_options();
        unfit.retain(|option| !suitable.contains(option));
        if unfit.is_empty() {
            return Ok(());
        }
        let apply = plural(unfit.len(), "applies", "apply");
        let (file, unfit) = (self.file.display(), unfit.join(", "));
        Err(usage(format!("{file} is {content}, but {unfit} {apply} to a single shader only{advice}")))
    }

    /// Returns the arguments of the run of several shaders or of a family of precision cases, with
    /// the same options.
    ///
    /// # Errors
    /// Options of a single shader are given, apart from those in `suitable`.
    pub(super) fn run_args(&self, content: &str, suitable: &[&str], advice: &str) -> Result<RunArgs, Failure> {
        self.refuse_unsuitable(content, suitable, advice)?;
        let ExecutionArgs { device, api, timeout, validation, via, json, isolate } = &self.execution;
        // The separator tells a folder from a group of cases.
        let path = if self.file.is_dir() { self.file.join("") } else { self.file.clone() };
        let default = RunArgs::default();
        Ok(RunArgs {
            filters: vec![path.display().to_string()],
            compile: self.dispatch.compile.clone(),
            device: device.clone(),
            api: api.unwrap_or(default.api),
            timeout: *timeout,
            validation: *validation,
            via: via.clone(),
            json: *json,
            isolate: *isolate,
            seed: self.dispatch.seed.unwrap_or(default.seed),
            out: self.out.clone(),
            ..default
        })
    }
}

/// Refuses a repeatable option that is given twice for the same key. Each value has its text for
/// the message.
fn refuse_duplicate<K>(option: &str, given: &[(K, &str)], same: impl Fn(&K, &K) -> bool) -> Result<(), Failure> {
    for (i, (key, text)) in given.iter().enumerate() {
        if let Some((_, first)) = given.iter().take(i).find(|(other, _)| same(other, key)) {
            return Err(usage(format!("{option} {first} and {option} {text} set the same thing; remove one of them")));
        }
    }
    Ok(())
}

impl DispatchArgs {
    /// Refuses options that set the same thing twice. A binding and an element of its array are
    /// different things.
    pub(super) fn refuse_duplicates(&self, check: &Check<'_>) -> Result<(), Failure> {
        let descriptors = &check.setup.descriptors;
        let same_binding = |a: &BindingName, b: &BindingName| {
            let both = |d: &Descriptor| [a, b].iter().all(|name| name.names(d.slot, d.name.as_deref()));
            a.is_element() == b.is_element() && descriptors.iter().any(both)
        };
        let joined = |pairs: &[(String, String)]| -> Vec<(String, String)> {
            pairs.iter().map(|(key, value)| (key.clone(), format!("{key}={value}"))).collect()
        };
        let inputs = joined(&self.input);
        let inputs = inputs.iter().map(|(key, text)| Ok((key.parse::<BindingName>()?, text.as_str())));
        refuse_duplicate("--input", &inputs.collect::<Result<Vec<_>, CheckError>>()?, same_binding)?;
        let sizes = joined(&self.image_size);
        let sizes = sizes.iter().map(|(key, text)| Ok((key.parse::<BindingName>()?, text.as_str())));
        refuse_duplicate("--image-size", &sizes.collect::<Result<Vec<_>, CheckError>>()?, same_binding)?;
        let elements = self.elements.iter().map(|text| {
            let to = text.split_once('=').map(|(to, _)| to.parse::<BindingName>()).transpose()?;
            Ok((to, text.as_str()))
        });
        refuse_duplicate("--elements", &elements.collect::<Result<Vec<_>, CheckError>>()?, |a, b| match (a, b) {
            (Some(a), Some(b)) => same_binding(a, b),
            (a, b) => a == b,
        })?;
        for (option, pairs) in [("--spec", &self.spec), ("--buffer", &self.buffer), ("--address", &self.address)] {
            let pairs = joined(pairs);
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
            refuse_duplicate(option, &pairs, |a, b| a == b)?;
        }
        Ok(())
    }

    /// Overrides the options of a case file.
    pub(super) fn apply(&self, options: &mut Options) -> Result<(), Failure> {
        options.entry = self.entry.clone().or(options.entry.take());
        options.groups = self.workgroups.or(options.groups);
        options.rounds = self.rounds.unwrap_or(options.rounds);
        options.seed = self.seed.unwrap_or(options.seed);
        options.checked_invocations = self.sample.or(options.checked_invocations);
        options.strict = self.strict;
        options.robustness = self.robustness.or(options.robustness);
        options.subgroups = self.subgroups.clone().or(options.subgroups.take());
        options.subgroup_control.size = self.subgroup_size.or(options.subgroup_control.size);
        options.subgroup_control.full |= self.full_subgroups;
        options.benign_races |= self.benign_races;
        if let Some(patience) = self.patience {
            options.limits = options.limits.patient(patience);
        }
        options.specs.extend(self.spec.iter().cloned());
        for push in &self.push {
            options.add_push(push)?;
        }
        for (binding, contents) in &self.input {
            options.inputs.push((binding.parse::<BindingName>()?, contents.parse::<BindingSource>()?));
        }
        for (name, form) in &self.buffer {
            options.buffers.retain(|(known, _)| known != name);
            options.buffers.push((name.clone(), form.parse()?));
        }
        for (place, value) in &self.address {
            options.addresses.push(AddressWord::parse(place, value)?);
        }
        for text in &self.elements {
            let (to, number) = match text.split_once('=') {
                Some((to, number)) => (Some(to.parse::<BindingName>()?), number),
                None => (None, text.as_str()),
            };
            let elements = number.trim().parse().ok().filter(|&n: &u64| n > 0);
            let elements =
                elements.ok_or_else(|| usage(format!("--elements {text}: expected [BINDING=]N, N above 0")))?;
            options.elements.push((to, elements));
        }
        for (binding, text) in &self.image_size {
            let sides: Option<Vec<u32>> = text.split('x').map(|side| side.parse().ok().filter(|&n| n > 0)).collect();
            let sides = sides.filter(|sides| sides.len() <= 3).ok_or_else(|| {
                usage(format!("--image-size {binding}={text}: expected W, WxH or WxHxD in texels, such as 64x32"))
            })?;
            options.image_sizes.push((binding.parse()?, sides));
        }
        Ok(())
    }
}
