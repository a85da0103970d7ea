//! Generates the tables in `harness/vulkan/src/features`: the feature structures, property
//! structures and extensions that matter to shaders, as plain data.
//!
//! They contain every feature structure that enables a SPIR-V capability or extension, and those
//! listed below.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::{Context, Result, bail};

use crate::spec_sources::{EnablingRow, EnablingTable};
use crate::vulkan_registry::{Registry, Version};

/// Structures that enable no SPIR-V capability but affect the abilities or the execution of compute
/// shaders.
const ADDITIONAL: [&str; 20] = [
    "VkPhysicalDeviceMaintenance4Features",
    "VkPhysicalDeviceMaintenance5Features",
    "VkPhysicalDeviceMaintenance6Features",
    "VkPhysicalDeviceMaintenance7FeaturesKHR",
    "VkPhysicalDeviceMaintenance8FeaturesKHR",
    "VkPhysicalDeviceMaintenance9FeaturesKHR",
    "VkPhysicalDevicePipelineRobustnessFeatures",
    "VkPhysicalDeviceRobustness2FeaturesKHR",
    "VkPhysicalDeviceImageRobustnessFeatures",
    "VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR",
    "VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR",
    "VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR",
    "VkPhysicalDeviceShaderClockFeaturesKHR",
    "VkPhysicalDeviceSubgroupSizeControlFeatures",
    "VkPhysicalDeviceSynchronization2Features",
    "VkPhysicalDeviceShaderTerminateInvocationFeatures",
    "VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures",
    "VkPhysicalDeviceTilePropertiesFeaturesQCOM",
    "VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT",
    "VkPhysicalDeviceShaderUniformBufferUnsizedArrayFeaturesEXT",
];

/// Structures that newer ones replaced; devices of earlier versions have these.
const REPLACED: [&str; 9] = [
    "VkPhysicalDevice8BitStorageFeatures",
    "VkPhysicalDeviceShaderFloat16Int8Features",
    "VkPhysicalDeviceShaderAtomicInt64Features",
    "VkPhysicalDeviceVulkanMemoryModelFeatures",
    "VkPhysicalDeviceScalarBlockLayoutFeatures",
    "VkPhysicalDeviceBufferDeviceAddressFeatures",
    "VkPhysicalDeviceDescriptorIndexingFeatures",
    "VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures",
    "VkPhysicalDeviceUniformBufferStandardLayoutFeatures",
];

/// Structures whose features share names with others but differ in meaning. Drivers that have them
/// have the others as well.
const OLDER_VERSIONS: [&str; 2] =
    ["VkPhysicalDeviceBufferDeviceAddressFeaturesEXT", "VkPhysicalDeviceCooperativeMatrixFeaturesNV"];

/// Structures that are queried and reported but never enabled by `Device::open`: they need graphics
/// or ray tracing objects that this project does not create, or exclude a feature that it enables.
const NOT_ENABLED: [&str; 23] = [
    "VkPhysicalDeviceClusterAccelerationStructureFeaturesNV",
    "VkPhysicalDeviceClusterCullingShaderFeaturesHUAWEI",
    "VkPhysicalDeviceDataGraphFeaturesARM",
    "VkPhysicalDeviceDescriptorHeapFeaturesEXT",
    "VkPhysicalDeviceFragmentDensityMapFeaturesEXT",
    "VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR",
    "VkPhysicalDeviceFragmentShaderBarycentricFeaturesNV",
    "VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT",
    "VkPhysicalDeviceFragmentShadingRateFeaturesKHR",
    "VkPhysicalDeviceOpacityMicromapFeaturesKHR",
    "VkPhysicalDevicePushConstantBankFeaturesNV",
    "VkPhysicalDeviceRayQueryFeaturesKHR",
    "VkPhysicalDeviceRayTracingLinearSweptSpheresFeaturesNV",
    "VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR",
    "VkPhysicalDeviceRayTracingMotionBlurFeaturesNV",
    "VkPhysicalDeviceRayTracingPipelineFeaturesKHR",
    "VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR",
    "VkPhysicalDeviceShaderEnqueueFeaturesAMDX",
    "VkPhysicalDeviceShaderImageFootprintFeaturesNV",
    "VkPhysicalDeviceShaderMultipleWaitQueuesFeaturesQCOM",
    "VkPhysicalDeviceShaderTileImageFeaturesEXT",
    "VkPhysicalDeviceShadingRateImageFeaturesNV",
    "VkPhysicalDeviceTransformFeedbackFeaturesEXT",
];

/// Parts of the names of extensions for graphics or ray tracing, which are not enabled if they have
/// no feature structure.
const NOT_ENABLED_BARE: [&str; 16] = [
    "mesh_shader",
    "ray_tracing",
    "opacity",
    "post_depth",
    "geometry",
    "multiview",
    "conservative",
    "stencil",
    "viewport",
    "subpass",
    "fragment",
    "sample_mask",
    "explicit_vertex",
    "early_and_late",
    "device_group",
    "draw_parameters",
];

/// Parts of the names of structures with core features that compute shaders cannot use; these
/// structures are not queried on devices of earlier versions.
const NOT_QUERIED: [&str; 18] = [
    "IndexType",
    "LineRaster",
    "VertexAttribute",
    "GlobalPriority",
    "HostImageCopy",
    "ASTC",
    "InlineUniform",
    "PrivateData",
    "PipelineCreation",
    "PipelineProtected",
    "DepthStencil",
    "Imageless",
    "DynamicRendering",
    "Timeline",
    "HostQuery",
    "PushDescriptor",
    "Multiview",
    "DrawParameters",
];

/// Property structures with limits to which requirements of modules refer. Those of older versions
/// are queried through `ash`.
const PROPERTIES: [&str; 8] = [
    "VkPhysicalDeviceCooperativeMatrix2PropertiesNV",
    "VkPhysicalDeviceCooperativeMatrixPropertiesKHR",
    "VkPhysicalDeviceCooperativeVectorPropertiesNV",
    "VkPhysicalDeviceImageProcessing2PropertiesQCOM",
    "VkPhysicalDeviceImageProcessingPropertiesQCOM",
    "VkPhysicalDeviceShaderLongVectorPropertiesEXT",
    "VkPhysicalDeviceShaderSplitBarrierPropertiesEXT",
    "VkPhysicalDeviceTileShadingPropertiesQCOM",
];

/// Generates every file by name.
pub(crate) fn generate(registry: &Registry, enabling: &EnablingTable) -> Result<BTreeMap<&'static str, String>> {
    let features = features(registry, enabling)?;
    Ok([("feature_tables.rs", features), ("property_tables.rs", properties(registry)?)].into())
}

const PRELUDE: &str = "// Generated by `cargo run -p xtask -- tables` from the Vulkan registry. Do not edit.\n\n";

fn is_queried(name: &str) -> bool {
    !NOT_QUERIED.iter().any(|part| name.contains(part))
}

/// Returns the names of the feature structures to include.
fn feature_structures(registry: &Registry, rows: &[&EnablingRow]) -> Result<BTreeSet<String>> {
    let mut names: BTreeSet<&str> = rows.iter().filter_map(|row| row.structure.as_deref()).collect();
    names.extend(ADDITIONAL);
    names.extend(REPLACED);
    for core in
        ["VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceVulkan14Features"]
    {
        let before = registry.structure(core)?.members.iter().filter_map(|member| member.was_in.as_deref());
        names.extend(before.filter(|name| registry.structures.contains_key(*name) && is_queried(name)));
    }
    let mut chosen = BTreeSet::new();
    for name in names.into_iter().filter(|name| ADDITIONAL.contains(name) || is_queried(name)) {
        let structure = registry.structure(name)?;
        chosen.insert(structure.alias.clone().unwrap_or_else(|| name.to_owned()));
    }
    chosen.remove("VkPhysicalDeviceFeatures");
    OLDER_VERSIONS.iter().for_each(|name| _ = chosen.remove(*name));
    Ok(chosen)
}

fn features(registry: &Registry, enabling: &EnablingTable) -> Result<String> {
    let rows: Vec<&EnablingRow> =
        enabling.capabilities.values().chain(enabling.extensions.values()).flatten().collect();
    let mut blocks = String::new();
    let (mut wanted, mut enabled) = (BTreeSet::new(), BTreeSet::new());
    for name in feature_structures(registry, &rows)? {
        let fields = &registry.structure(&name)?.members[2..];
        if let Some(other) = fields.iter().find(|field| field.ty != "VkBool32") {
            bail!("{name}::{} is a {}, not a VkBool32", other.name, other.ty);
        }
        let (core, by) = registry.provided_by(&name);
        if core.is_empty() && by.is_empty() {
            continue; // Another API's.
        }
        let summary = name.strip_prefix("VkPhysicalDeviceVulkan1").and_then(|rest| rest.strip_suffix("Features"));
        let (since, until) = match summary {
            // The structure of Vulkan 1.1's features was added in 1.2.
            Some(minor) => (Some((1, minor.parse::<u32>()?.max(2))), None),
            None => (core.first().copied(), core.first().and_then(|version| summary_since(*version))),
        };
        let enable = !NOT_ENABLED.contains(&name.as_str());
        wanted.extend(by.iter().cloned());
        if enable {
            enabled.extend(by.iter().cloned());
        }
        writeln!(
            blocks,
            "    FeatureBlock {{ name: {name:?}, s_type: {}, since: {}, until: {}, extensions: &{}, enable: {enable}, fields: &{} }},",
            registry.s_type(&name)?,
            rust_version(since),
            rust_version(until),
            list(by.iter().map(String::as_str)),
            list(fields.iter().map(|field| field.name.as_str())),
        )?;
    }
    let core = &registry.structure("VkPhysicalDeviceFeatures")?.members;
    let core_names = list(core.iter().map(|member| member.name.as_str()));
    let mut out = PRELUDE.to_owned();
    write!(
        out,
        "use super::{{Extension, FeatureBlock}};\n\n/// The fields of `VkPhysicalDeviceFeatures`, in order.\n\
         pub(crate) const CORE_1_0: [&str; {}] = {core_names};\n\n/// Feature structures, by name.\n\
         pub(crate) const BLOCKS: &[FeatureBlock] = &[\n{blocks}];\n\n",
        core.len()
    )?;
    // Extensions that enable something and have no feature structure.
    let named = rows.iter().filter_map(|row| row.extension.clone()).filter(|name| !wanted.contains(name));
    let mut bare: BTreeSet<String> = named.chain(["VK_KHR_spirv_1_4".to_owned()]).collect();
    bare.retain(|name| {
        let graphics = NOT_ENABLED_BARE.iter().any(|part| name.contains(part));
        !graphics && registry.extensions.get(name).is_some_and(|extension| extension.is_device)
    });
    out.push_str(
        "/// Device extensions that are enabled where present, and all extensions that those may depend on.\n",
    );
    out.push_str("pub(crate) const EXTENSIONS: &[Extension] = &[\n");
    for name in with_dependencies(registry, enabled.union(&bare).cloned().collect())? {
        let extension = &registry.extensions[&name];
        writeln!(
            out,
            "    Extension {{ name: {name:?}, depends: {:?}, core: {}, bare: {} }},",
            extension.depends,
            rust_version(core_version(registry, extension.promoted_to.as_deref())),
            bare.contains(&name)
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// Returns the first version that has a structure `VkPhysicalDeviceVulkanXYFeatures` for the features
/// of a core version. The one of 1.1 came with 1.2.
fn summary_since(version: Version) -> Option<Version> {
    match version {
        (1, 1 | 2) => Some((1, 2)),
        (1, 3 | 4) => Some(version),
        _ => None,
    }
}

/// Returns the extensions with all extensions in their dependency expressions.
fn with_dependencies(registry: &Registry, mut waiting: Vec<String>) -> Result<BTreeSet<String>> {
    let mut known = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        let extension = registry.extensions.get(&name).with_context(|| format!("the registry has no {name}"))?;
        let words = extension.depends.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let others = words.filter(|word| registry.extensions.contains_key(*word) && !known.contains(*word));
        waiting.extend(others.map(str::to_owned));
        known.insert(name);
    }
    Ok(known)
}

/// Returns the core version that includes an extension, possibly by way of other extensions.
fn core_version<'a>(registry: &'a Registry, mut promoted: Option<&'a str>) -> Option<Version> {
    for _ in 0..registry.extensions.len() {
        match promoted.and_then(|name| registry.extensions.get(name)) {
            Some(extension) => promoted = extension.promoted_to.as_deref(),
            None => break,
        }
    }
    let (major, minor) = promoted?.strip_prefix("VK_VERSION_")?.split_once('_')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn properties(registry: &Registry) -> Result<String> {
    let mut out = PRELUDE.to_owned();
    out.push_str("use super::PropertyBlock;\n\n/// Property structures with limits of shaders, by name.\n");
    out.push_str("pub(crate) const PROPERTIES: &[PropertyBlock] = &[\n");
    for name in PROPERTIES {
        let mut fields = Vec::new();
        for member in &registry.structure(name)?.members[2..] {
            let word = |axis: &str, is_bool: bool| format!("({:?}, {is_bool})", format!("{}{axis}", member.name));
            match member.ty.as_str() {
                _ if !member.is_plain => bail!("{name}::{} is not a plain number", member.name),
                "VkBool32" => fields.push(word("", true)),
                "uint32_t" | "VkShaderStageFlags" => fields.push(word("", false)),
                "VkExtent2D" => fields.extend([word("X", false), word("Y", false)]),
                other => bail!("{name}::{} is a {other}, whose words are not known", member.name),
            }
        }
        let (_, extensions) = registry.provided_by(name);
        writeln!(
            out,
            "    // {name}\n    PropertyBlock {{ s_type: {}, extensions: &{}, fields: &[{}] }},",
            registry.s_type(name)?,
            list(extensions.iter().map(String::as_str)),
            fields.join(", ")
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.map(|item| format!("{item:?}")).collect();
    format!("[{}]", items.join(", "))
}

fn rust_version(version: Option<Version>) -> String {
    version.map_or_else(|| "None".to_owned(), |(major, minor)| format!("Some(({major}, {minor}))"))
}
