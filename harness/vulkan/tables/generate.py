#!/usr/bin/env python3
"""Writes src/features/tables.rs: the feature structures and extensions that matter to shaders, as plain data.

    harness/vulkan/tables/generate.py VK_XML SPIRV_ENABLING_JSON | rustfmt > harness/vulkan/src/features/tables.rs

VK_XML is the Vulkan registry (vk.xml); SPIRV_ENABLING_JSON lists, for every SPIR-V capability and extension, what
allows it on a Vulkan device. Every feature structure named there is taken, and those listed below besides.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET

# Structures that allow no SPIR-V capability of their own but matter to what a compute shader may do or how it runs.
ALSO = """
VkPhysicalDeviceMaintenance4Features VkPhysicalDeviceMaintenance5Features VkPhysicalDeviceMaintenance6Features
VkPhysicalDeviceMaintenance7FeaturesKHR VkPhysicalDeviceMaintenance8FeaturesKHR VkPhysicalDeviceMaintenance9FeaturesKHR
VkPhysicalDevicePipelineRobustnessFeatures VkPhysicalDeviceRobustness2FeaturesKHR VkPhysicalDeviceImageRobustnessFeatures
VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR VkPhysicalDeviceShaderRelaxedExtendedInstructionFeaturesKHR
VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR VkPhysicalDeviceShaderClockFeaturesKHR
VkPhysicalDeviceSubgroupSizeControlFeatures VkPhysicalDeviceSynchronization2Features
VkPhysicalDeviceShaderTerminateInvocationFeatures VkPhysicalDeviceZeroInitializeWorkgroupMemoryFeatures
VkPhysicalDeviceTilePropertiesFeaturesQCOM VkPhysicalDeviceMutableDescriptorTypeFeaturesEXT
""".split()

# Their features have the names of others' but not their meaning, and drivers that have them have those too.
OLDER_FORMS = {"VkPhysicalDeviceBufferDeviceAddressFeaturesEXT", "VkPhysicalDeviceCooperativeMatrixFeaturesNV"}

# Read and reported, never enabled by `Device::open`: they need graphics or ray tracing objects this crate does not
# make, or exclude a feature that it does enable.
NOT_ENABLED = set("""
VkPhysicalDeviceClusterAccelerationStructureFeaturesNV VkPhysicalDeviceClusterCullingShaderFeaturesHUAWEI
VkPhysicalDeviceDataGraphFeaturesARM
VkPhysicalDeviceDescriptorHeapFeaturesEXT VkPhysicalDeviceFragmentDensityMapFeaturesEXT
VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR VkPhysicalDeviceFragmentShaderBarycentricFeaturesNV
VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT VkPhysicalDeviceFragmentShadingRateFeaturesKHR
VkPhysicalDeviceOpacityMicromapFeaturesKHR VkPhysicalDevicePushConstantBankFeaturesNV
VkPhysicalDeviceRayQueryFeaturesKHR VkPhysicalDeviceRayTracingLinearSweptSpheresFeaturesNV
VkPhysicalDeviceRayTracingMaintenance1FeaturesKHR VkPhysicalDeviceRayTracingMotionBlurFeaturesNV
VkPhysicalDeviceRayTracingPipelineFeaturesKHR VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR
VkPhysicalDeviceShaderEnqueueFeaturesAMDX VkPhysicalDeviceShaderImageFootprintFeaturesNV
VkPhysicalDeviceShaderMultipleWaitQueuesFeaturesQCOM VkPhysicalDeviceShaderTileImageFeaturesEXT
VkPhysicalDeviceShadingRateImageFeaturesNV VkPhysicalDeviceTransformFeedbackFeaturesEXT
""".split())

# Extensions without a feature structure that only graphics or ray tracing stages use: not enabled.
NOT_BARE = re.compile("mesh_shader|ray_tracing|opacity|post_depth|geometry|multiview|conservative|stencil|viewport|"
                      "subpass|fragment|sample_mask|explicit_vertex|early_and_late|device_group|draw_parameters")
# Parts of the core feature structures that no compute shader can see: not asked for on devices of earlier versions.
NOT_ASKED = re.compile("IndexType|LineRaster|VertexAttribute|GlobalPriority|HostImageCopy|ASTC|InlineUniform|PrivateData|"
                       "PipelineCreation|PipelineProtected|DepthStencil|Imageless|DynamicRendering|Timeline|HostQuery|"
                       "PushDescriptor|Multiview|DrawParameters")

VERSIONS = {"VK_VERSION_1_0": (1, 0), "VK_VERSION_1_1": (1, 1), "VK_VERSION_1_2": (1, 2), "VK_VERSION_1_3": (1, 3),
            "VK_VERSION_1_4": (1, 4)}
# Since which version one structure holds the features of all earlier extensions of that core version.
SUMMARY = {(1, 1): (1, 2), (1, 2): (1, 2), (1, 3): (1, 3), (1, 4): (1, 4)}


def main():
    registry = ET.parse(sys.argv[1]).getroot()
    enabling = json.load(open(sys.argv[2]))
    structs = {t.get("name"): t for t in registry.find("types") if t.get("category") == "struct"}
    stypes = structure_types(registry)
    providers, extensions = {}, {}
    for feature in registry.findall("feature"):
        # vk.xml splits each version in parts (VK_BASE_VERSION_1_1, ..); the number says which one is meant.
        version = tuple(int(n) for n in feature.get("number").split("."))
        if "vulkan" in feature.get("api", "").split(","):
            for t in feature.findall("require/type"):
                providers.setdefault(t.get("name"), []).append(version)
    for extension in registry.find("extensions"):
        if "vulkan" not in extension.get("supported", "").split(","):
            continue
        extensions[extension.get("name")] = extension
        for t in extension.findall("require/type"):
            providers.setdefault(t.get("name"), []).append(extension.get("name"))

    rules = [r for part in ("capabilities", "extensions") for rs in enabling[part].values() for r in rs]
    names = {r["struct"] for r in rules if "struct" in r} | set(ALSO)
    # The structures that the core ones replace: needed on devices of an earlier version.
    aliases = {}
    for name, struct in structs.items():
        if struct.get("alias"):
            aliases.setdefault(struct.get("alias"), []).append(name)
    for core in ("VkPhysicalDeviceVulkan12Features", "VkPhysicalDeviceVulkan13Features", "VkPhysicalDeviceVulkan14Features"):
        for member in structs[core].findall("member/name"):
            alias = member.get("alias") or ""
            if "::" in alias and alias.split("::")[0] in structs and not NOT_ASKED.search(alias):
                names.add(alias.split("::")[0])
    names |= {"VkPhysicalDevice8BitStorageFeatures", "VkPhysicalDeviceShaderFloat16Int8Features",
              "VkPhysicalDeviceShaderAtomicInt64Features", "VkPhysicalDeviceVulkanMemoryModelFeatures",
              "VkPhysicalDeviceScalarBlockLayoutFeatures", "VkPhysicalDeviceBufferDeviceAddressFeatures",
              "VkPhysicalDeviceDescriptorIndexingFeatures", "VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures",
              "VkPhysicalDeviceUniformBufferStandardLayoutFeatures"}
    names = {structs[n].get("alias") or n for n in names if n in ALSO or not NOT_ASKED.search(n)}
    names -= {"VkPhysicalDeviceFeatures"} | OLDER_FORMS

    blocks, wanted = [], set()
    for name in sorted(names):
        struct = structs[name]
        members = struct.findall("member")
        assert members[0].get("values"), name
        fields = [m.find("name").text for m in members[2:]]
        assert all(m.find("type").text == "VkBool32" for m in members[2:]), name
        sources = sum((providers.get(n, []) for n in [name] + aliases.get(name, [])), [])
        core = sorted(s for s in sources if isinstance(s, tuple))
        by = sorted({s for s in sources if isinstance(s, str)})
        if not core and not by:
            continue  # another API's
        summary = re.fullmatch(r"VkPhysicalDeviceVulkan1(\d)Features", name)
        if summary:
            since, until = (1, max(2, int(summary[1]))), None
        else:
            since = core[0] if core else None
            until = SUMMARY.get(since)
        wanted.update(by)
        blocks.append((name, stypes[members[0].get("values")], since, until, by, name not in NOT_ENABLED, fields))
    enabled = {e for b in blocks if b[5] for e in b[4]}
    # Extensions that allow something and have no feature structure.
    bare = {r["extension"] for r in rules if "extension" in r} - wanted
    bare = {e for e in bare | {"VK_KHR_spirv_1_4"} if e in extensions and not NOT_BARE.search(e)}
    bare = {e for e in bare if extensions[e].get("type") == "device"}
    known = set()
    todo = enabled | bare
    while todo:
        e = todo.pop()
        known.add(e)
        for d in re.findall(r"VK_\w+", extensions[e].get("depends") or ""):
            if d in extensions and d not in known:
                todo.add(d)

    core10 = [m.find("name").text for m in structs["VkPhysicalDeviceFeatures"].findall("member")]
    out = ["//! Generated by `tables/generate.py` from the Vulkan registry; do not edit.",
           "",
           "use super::{Extension, FeatureBlock};",
           "",
           "/// The fields of `VkPhysicalDeviceFeatures`, in order.",
           f"pub(crate) const CORE_1_0: [&str; {len(core10)}] = {rust_list(core10, array=True)};",
           "",
           "/// Feature structures, by name.",
           "pub(crate) const BLOCKS: &[FeatureBlock] = &["]
    for name, stype, since, until, by, enable, fields in blocks:
        out.append(f'FeatureBlock {{ name: "{name}", s_type: {stype}, since: {rust_version(since)}, '
                   f"until: {rust_version(until)}, extensions: {rust_list(by)}, enable: {str(enable).lower()}, "
                   f"fields: {rust_list(fields)} }},")
    out.append("];\n")
    out.append("/// Device extensions that are enabled where present, and all extensions that those may depend on.")
    out.append("pub(crate) const EXTENSIONS: &[Extension] = &[")
    for e in sorted(known):
        x = extensions[e]
        promoted = x.get("promotedto")
        seen = set()
        while promoted in extensions and promoted not in seen:
            seen.add(promoted)
            promoted = extensions[promoted].get("promotedto")
        out.append(f'Extension {{ name: "{e}", depends: "{x.get("depends") or ""}", '
                   f"core: {rust_version(VERSIONS.get(promoted))}, bare: {str(e in bare).lower()} }},")
    out.append("];")
    print("\n".join(out))


def structure_types(registry):
    """VkStructureType enumerant -> number."""
    values, same = {}, {}

    def take(enum, number):
        if enum.get("alias"):
            same[enum.get("name")] = enum.get("alias")
        elif enum.get("value"):
            values[enum.get("name")] = int(enum.get("value"), 0)
        else:
            n = 1000000000 + (int(enum.get("extnumber") or number) - 1) * 1000 + int(enum.get("offset"))
            values[enum.get("name")] = -n if enum.get("dir") == "-" else n

    for enums in registry.findall("enums"):
        if enums.get("name") == "VkStructureType":
            for enum in enums.findall("enum"):
                take(enum, None)
    for where in registry.findall("feature") + registry.findall("extensions/extension"):
        number = None if where.tag == "feature" else where.get("number")
        for enum in where.findall("require/enum"):
            if enum.get("extends") == "VkStructureType":
                take(enum, number)
    for name, target in same.items():
        while target in same:
            target = same[target]
        if target in values:
            values[name] = values[target]
    return values


def rust_list(items, array=False):
    return ("" if array else "&") + "[" + ", ".join(f'"{i}"' for i in items) + "]"


def rust_version(version):
    return f"Some(({version[0]}, {version[1]}))" if version else "None"


main()
