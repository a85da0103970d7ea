//! Explained differences between other validators and our rules, each settled from the
//! specification.
//!
//! The validators are Debian's `spirv-val` (SPIRV-Tools 2023.1) and the one in the current
//! validation layer (SPIRV-Tools 2026). A rule that one of them lacks is listed here with the
//! reason; so is a complaint about a requirement that is not one of our rules. Any other difference
//! counts as an error of ours until the specification shows otherwise.

use assay_spirv_rules::rules::UNCHECKED_STANDALONE;

/// A validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Debian's `spirv-val`.
    SpirvVal,
    /// The validator inside the validation layer.
    Layer,
}

/// A rule that a validator does not enforce.
struct Gap {
    rule: &'static str,
    judges: &'static [Judge],
    why: &'static str,
}

const fn gap(rule: &'static str, judges: &'static [Judge], why: &'static str) -> Gap {
    Gap { rule, judges, why }
}

const OLD: &[Judge] = &[Judge::SpirvVal];
const NEW: &[Judge] = &[Judge::Layer];
const BOTH: &[Judge] = &[Judge::SpirvVal, Judge::Layer];

/// The rule is newer than the tool.
const YOUNGER: &str = "the rule is newer than this validator";
/// The specification is clear, but the tool does not check it.
const MISSING: &str = "the specification has the rule, but this validator does not check it";
/// A rule about a module and a device.
const RUNTIME: &str = "a RuntimeSpirv rule: the layer checks it for pipelines, not for modules alone";

const GAPS: &[Gap] = &[
    // Neither validator checks these.
    gap("extension-listed", BOTH, "the table of extensions: this validator accepts unknown extensions"),
    gap(
        "instruction-set",
        BOTH,
        "Versions and Formats lists GLSL.std.450 only: this validator accepts every set that it knows",
    ),
    gap("float-controls-conflict", BOTH, MISSING),
    gap("float-controls-width", BOTH, MISSING),
    gap("offset-sampled", BOTH, "Offset-04865 applies to every image instruction; this validator does not check it"),
    gap("specialized-array", BOTH, "Function-04681; this validator does not check it"),
    gap("opaque-undef", BOTH, "OpUndef-12464 is newer than both validators"),
    gap("uniform-buffer-index", BOTH, "10127; this validator does not check it"),
    gap("sampled-image-index", BOTH, "10128; this validator does not check it"),
    gap("storage-buffer-index", BOTH, "10129; this validator does not check it"),
    gap("storage-image-index", BOTH, "10130; this validator does not check it"),
    gap("input-attachment-index", BOTH, "10131; this validator does not check it"),
    gap("uniform-texel-buffer-index", BOTH, "10132; this validator does not check it"),
    gap("storage-texel-buffer-index", BOTH, "10133; this validator does not check it"),
    gap(
        "capability-of-extension",
        BOTH,
        "the table of capabilities lacks Groups: this validator accepts it with SPV_AMD_shader_ballot; ours is a warning",
    ),
    gap("byte-interface", BOTH, RUNTIME),
    gap("input-attachment-array", BOTH, RUNTIME),
    gap("write-components", BOTH, RUNTIME),
    gap("array-length-width", BOTH, RUNTIME),
    gap(
        "memory-scope-subgroup-capability",
        BOTH,
        "SubgroupVoteKHR-07951 states no version; this validator checks it for Vulkan 1.0 only, or not at all",
    ),
    gap(
        "location-missing",
        BOTH,
        "Location-04917 applies to every user-defined variable; this validator checks stages with locations, not compute",
    ),
    gap(
        "pointer-stride",
        BOTH,
        "Shader Interfaces: uses of ArrayStride that the chapter does not list are invalid; this validator checks the types of variables only",
    ),
    gap(
        "quad-swap-direction",
        BOTH,
        "Direction must be one of the values that OpGroupNonUniformQuadSwap names; this validator checks only that it is a constant",
    ),
    gap("image-capability", BOTH, "Capability: the type requires it; this validator checks accesses to the image only"),
    gap(
        "selection-structured",
        BOTH,
        "2.16.2 exempts declared merge blocks and Continue Targets; this validator exempts every earlier label, and one of two suffices",
    ),
    gap("switch-cases", BOTH, "2.11.3: targets with one label appear consecutively; this validator does not check it"),
    gap(
        "extended-texel",
        BOTH,
        "SignExtend and ZeroExtend: not both, for integers only; this validator does not check the type of texels",
    ),
    gap("signedness", BOTH, "OpTypeInt: this validator checks the signedness of 32-bit integers only"),
    // The module cannot be read because of invalid UTF-8.
    gap(
        "no module: word OpName: operand word is not a valid LiteralString",
        BOTH,
        "SPIR-V 2.2.1: a literal string is UTF-8; this validator does not check it",
    ),
    gap(
        "no module: word OpEntryPoint: operand word is not a valid LiteralString",
        BOTH,
        "SPIR-V 2.2.1: a literal string is UTF-8; this validator does not check it",
    ),
    gap(
        "no module: word OpExtension: operand word is not a valid LiteralString",
        BOTH,
        "SPIR-V 2.2.1: a literal string is UTF-8; this validator does not check it",
    ),
    gap(
        "no module: word OpExtInstImport: operand word is not a valid LiteralString",
        BOTH,
        "SPIR-V 2.2.1: a literal string is UTF-8; this validator does not check it",
    ),
    gap(
        "no module: word OpMemberName: operand word is not a valid LiteralString",
        BOTH,
        "SPIR-V 2.2.1: a literal string is UTF-8; this validator does not check it",
    ),
    gap("function-types", BOTH, "OpFunctionCall: this validator accepts a function as an argument, by its return type"),
    gap(
        "arithmetic-types",
        OLD,
        "integer dot products, and arithmetic inside constants: this validator does not check them",
    ),
    gap(
        "constant-types",
        OLD,
        "OpConstantComposite: this validator compares the kinds of Constituents, not their widths",
    ),
    gap("group-types", OLD, MISSING),
    gap("access-chain-types", OLD, "OpPtrAccessChain: this validator does not check Element"),
    // Only the older validator lacks these.
    gap("alignment-power", OLD, MISSING),
    gap("branch-labels", BOTH, "OpBranchConditional: this validator does not check the weights"),
    gap("execution-mode-once", OLD, MISSING),
    gap(
        "explicit-level",
        BOTH,
        "OpImageSampleExplicitLod: this validator requires some image operand, not Lod or Grad",
    ),
    gap("switch-literals", BOTH, "OpSwitch: this validator does not compare the literals"),
    gap("unsigned-result", OLD, "operations inside OpSpecConstantOp: this validator does not check them"),
    gap("access-signedness", OLD, MISSING),
    gap(
        "array-stride",
        OLD,
        "SPIR-V 2.16.2: checked against the last member of a structure, not the one that ends last",
    ),
    gap("binding", OLD, MISSING),
    gap("built-in-class", OLD, "04237 and its siblings: checked for built-ins that functions use only"),
    gap("built-in-model", OLD, MISSING),
    gap("built-in-type", OLD, "04238 and its siblings: checked for built-ins that functions use only"),
    gap("capability-listed", OLD, MISSING),
    gap("class-needs-order", OLD, YOUNGER),
    gap("format-type", OLD, MISSING),
    gap("layout-not-allowed", OLD, YOUNGER),
    gap("matrix-order", OLD, "SPIR-V 2.16.2: checked for matrices, not for arrays of them"),
    gap("matrix-stride", OLD, "SPIR-V 2.16.2: checked for some members of nested structures"),
    gap("memory-scope-invocation-semantics", OLD, "None-04641: checked for some instructions"),
    gap("mesh-primitives", OLD, MISSING),
    gap("mesh-vertices", OLD, MISSING),
    gap("no-rectangles", OLD, YOUNGER),
    gap("no-sequential-consistency", OLD, YOUNGER),
    gap("block-nesting", OLD, "SPIR-V, Block: checked for a Block's members, not for their members"),
    gap("local-size-id-constant", OLD, MISSING),
    gap("block", BOTH, "PushConstant-06675 and its siblings: checked for variables that functions use only"),
    gap("interpolation-class", OLD, MISSING),
    gap(
        "split-barrier-stage",
        NEW,
        "SplitBarrierEXT-13552 applies to the capability; this validator checks the instructions",
    ),
    gap("offsets", BOTH, "None-10684: this validator checks accesses of functions, not every pointer type"),
    gap("one-hit-attribute", OLD, MISSING),
    gap("one-incoming-callable-data", OLD, MISSING),
    gap("one-incoming-ray-payload", OLD, MISSING),
    gap("one-push-constant-in-interface", OLD, "OpVariable-06673: this validator does not check interfaces"),
    gap("opaque-store", OLD, MISSING),
    gap("physical-matrix", OLD, MISSING),
    gap("pointer-chain-stride", OLD, "OpPtrDiff: this validator checks the type of OpPtrAccessChain's Base only"),
    gap("texel-pointer-use", OLD, MISSING),
    gap("variable-pointer-class", OLD, MISSING),
    gap("variable-pointer-length", OLD, MISSING),
    gap("variable-pointer-object", OLD, MISSING),
    gap("variable-pointer-structure", OLD, MISSING),
    gap("order-needs-class", OLD, YOUNGER),
    gap("physical-alignment", OLD, MISSING),
    gap("repeated-input-built-in", OLD, YOUNGER),
    gap("repeated-output-built-in", OLD, YOUNGER),
    gap("subpass-coordinates", OLD, MISSING),
    gap("tessellation-levels", OLD, YOUNGER),
    gap("unequal-classes", OLD, YOUNGER),
    gap("unequal-strength", OLD, YOUNGER),
    gap("unequal-visible", OLD, YOUNGER),
    gap("workgroup-size-positive", OLD, YOUNGER),
    // Only the newer validator lacks these: the older one does not know the extension at all.
    gap(
        "gather-qcom-dim",
        NEW,
        "SPV_QCOM_image_processing3, OpImageGatherQCOM: Dim of 2D or Rect; this validator accepts every Dim",
    ),
    gap(
        "gather-qcom-offsets",
        NEW,
        "SPV_QCOM_image_processing3: this validator accepts ConstOffsets, and Offset together with ConstOffset",
    ),
    gap("long-vector-class", NEW, "Type-12297 applies to pointer types; this validator checks variables"),
    gap(
        "tile-store-stage",
        NEW,
        "Tile Attachment Interface: OpImageWrite in compute only; this validator does not check the stage",
    ),
];

/// Returns the reason why a validator accepts modules that violate one of our rules; `None` if
/// there is no explanation.
pub(crate) fn why_accepted(judge: Judge, rule: &str) -> Option<&'static str> {
    GAPS.iter().find(|gap| gap.rule == rule && gap.judges.contains(&judge)).map(|gap| gap.why)
}

/// Complaints of validators that correspond to none of our rules: for each subject, parts of the
/// messages. The last section of `RULES.md` lists the subjects.
const FOREIGN: &[(&str, &[&str])] = &[
    (
        "types outside the rules: instructions of extensions and kernels, and operands of decorations and modes",
        &[
            "OpTypeForwardPointer is not a pointer",
            "Operand cannot be a type",
            "Operand requires a type",
            "is an invalid bitmask",
            "Invalid use of function",
            "capability is required to use scalar integers",
        ],
    ),
    ("branches and variables", &["requires either or parameters", "First block of function", "must appear in a block"]),
    ("decorations that are repeated with the same value", &["multiple times"]),
    (
        "permitted targets of decorations and modes",
        &[
            "decoration on target",
            "xecution mode can only be used",
            "can only be applied to structure members",
            "decoration is invalid: must point to",
            "BuiltIns can only target",
        ],
    ),
    (
        "layouts that features such as scalarBlockLayout relax, which are device requirements here",
        &["straddl", "must satisfy alignment", "not satisfying alignment", "is not aligned to"],
    ),
    (
        "the number of invocations of a workgroup, which this validator computes in 32 bits, so that 2^33 counts as 0",
        &["must not have a product"],
    ),
];

/// Features newer than Debian's validator.
const UNKNOWN: &[&str] = &[
    "Invalid capability operand",
    "operand requires one of these",
    "Invalid extended instruction import",
    // shaderUniformBufferUnsizedArray permits uniform blocks that end in a run-time array.
    "OpTypeRuntimeArray-04680",
];

/// Requirements of an older grammar.
const NO_LONGER_ASKED: &[&str] = &[
    "Operand of Decorate requires one of these capabilities: StorageBuffer16BitAccess UniformAndStorageBuffer16BitAccess",
];

/// Built-ins whose types and stages our rules check.
const OUR_BUILT_INS: &[&str] = &[
    "DeviceIndex",
    "GlobalInvocationId",
    "LocalInvocationId",
    "LocalInvocationIndex",
    "NumSubgroups",
    "NumWorkgroups",
    "SubgroupId",
    "SubgroupSize",
    "TileApronSize",
    "TileDimension",
    "TileOffset",
    "WorkgroupId",
    "WorkgroupSize",
];

/// Returns the reason why a validator rejects a module that we accept; `None` if there is no
/// explanation.
pub(crate) fn why_refused(judge: Judge, complaint: &str) -> Option<&'static str> {
    let says = |parts: &[&str]| parts.iter().any(|part| complaint.contains(part));
    if judge == Judge::SpirvVal && says(UNKNOWN) {
        return Some("newer than this validator");
    }
    if says(NO_LONGER_ASKED) {
        return Some("the grammar of 2026 requires no capability for FPRoundingMode; this validator's older one does");
    }
    if complaint.contains("MeshEXT execution model entry points") {
        return Some("mesh stages, which this project does not run");
    }
    if let Some((_, built_in)) = complaint.split_once("BuiltIn ").filter(|_| complaint.contains("Vulkan spec")) {
        let ours = OUR_BUILT_INS.iter().any(|ours| built_in.starts_with(ours)) || built_in.starts_with("Subgroup");
        return (!ours).then_some("built-ins of graphics stages, which this project does not run");
    }
    if let Some((_, rule)) = complaint.split_once("VUID-StandaloneSpirv-") {
        // The documentation gives the reasons for not checking these.
        let of = |(why, names): &(&'static str, &[&str])| names.contains(&rule).then_some(*why);
        if let Some(why) = UNCHECKED_STANDALONE.iter().find_map(of) {
            return Some(why);
        }
    }
    // Complaints about a rule of the environment, a scope or memory semantics must correspond to
    // one of our rules.
    if says(&["VUID-", "Vulkan", "cope", "emantics"]) {
        return None;
    }
    FOREIGN.iter().find(|(_, parts)| says(parts)).map(|(what, _)| *what)
}
