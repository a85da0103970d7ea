//! Kernels: memory without variables, arguments and handles.

use super::Run;
use super::lanes::Lanes;
use crate::abstract_value::AbstractValue;
use crate::dispatch::{Dispatch, Resource, Slot};
use crate::error::RunError;
use crate::inst::Reg;
use crate::memory::Object;
use crate::outcome::FaultKind;
use crate::pointer::OBJECT;
use crate::program::{Parameter, Program};
use assay_spirv::kernel_call::{Argument, DescriptorHandle, DescriptorPosition, HandleKind, ImageHandle};
use assay_spirv::tables::Dim;
use std::collections::BTreeMap;

/// The objects that handles name, by kind and handle: a pointer to the object, and for an image its
/// dimensionality, and true if it is arrayed.
pub(crate) type Handles = BTreeMap<(HandleKind, u64), (u64, Option<(Dim, bool)>)>;

fn slot(at: DescriptorPosition) -> Slot {
    Slot { set: at.set, binding: at.binding, element: at.element }
}

/// Refuses a call that does not fit the kernel, and a kernel's call for a shader.
pub(super) fn check(program: &Program, dispatch: &Dispatch) -> Result<(), RunError> {
    let refused = |what: String| Err(RunError::Dispatch(what));
    let (parameters, call) = match (&program.parameters, &dispatch.kernel) {
        (None, None) => return Ok(()),
        (None, Some(_)) => return refused("a kernel's arguments and handles for a shader that is none".into()),
        (Some(_), None) => return refused("a kernel without arguments and handles".into()),
        (Some(parameters), Some(call)) => (parameters, call),
    };
    if let Err(error) = call.check() {
        return refused(error.to_string());
    }
    if parameters.len() != call.arguments.len() {
        let (given, wanted) = (call.arguments.len(), parameters.len());
        return refused(format!("{given} arguments for a kernel with {wanted} parameters"));
    }
    for (i, (parameter, argument)) in parameters.iter().zip(&call.arguments).enumerate() {
        let fits = match (&parameter.leaves, argument) {
            (Some(leaves), Argument::Value { offset }) => {
                let end = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max().unwrap_or(0);
                u64::from(*offset) + end <= dispatch.push_constants.len() as u64
            }
            (None, Argument::Buffer { set, binding }) => {
                let bound = dispatch.bindings.get(&Slot::new(*set, *binding));
                matches!(bound, Some(Resource::Buffer(_)))
            }
            (Some(_), Argument::Buffer { .. }) | (None, Argument::Value { .. }) => false,
        };
        if !fits {
            return refused(format!("argument {i} ({argument:?}) does not fit the kernel's parameter or is not there"));
        }
    }
    let named = |kind, at| match (kind, dispatch.bindings.get(&slot(at))) {
        (_, None) => false,
        (HandleKind::Image, Some(bound)) => matches!(bound, Resource::Image(_)),
        (HandleKind::Sampler, Some(bound)) => matches!(bound, Resource::Sampler(_)),
        (HandleKind::SampledImage, Some(bound)) => matches!(bound, Resource::CombinedImageSampler(..)),
    };
    match call.handles().find(|handle| !named(handle.kind, handle.at)) {
        Some(DescriptorHandle { kind, handle, at }) => {
            refused(format!("handle {handle:#x} names {}, where no {kind} is bound", slot(at)))
        }
        None => Ok(()),
    }
}

impl Run<'_> {
    /// Creates the memory objects of all bound resources. A kernel has no variables that name them.
    pub(super) fn bind_kernel(&mut self) -> Result<(), RunError> {
        let dispatch = self.dispatch;
        let Some(call) = &dispatch.kernel else { return Ok(()) };
        // The objects before are the push constants, which no pointer names here, and workgroup
        // memory.
        let first = 2;
        self.bindings.numbers = vec![u32::MAX; first as usize + dispatch.bindings.len()];
        self.add(0, Object::new(Vec::new()));
        self.add(1, Object::default());
        let mut numbers = BTreeMap::new();
        for (number, (at, resource)) in (first..).zip(&dispatch.bindings) {
            numbers.insert(*at, number);
            match resource {
                Resource::Image(image) => self.add_image(number, *at, image, None)?,
                Resource::CombinedImageSampler(image, sampler) => {
                    self.add_image(number, *at, image, None)?;
                    self.add_sampler(sampler);
                }
                Resource::Sampler(sampler) => {
                    self.add(number, Object::default());
                    self.add_sampler(sampler);
                    continue;
                }
                Resource::Buffer(buffer) => self.add(number, Object::new(buffer.data.clone())),
            }
            self.bindings.pointed.push((*at, number));
        }
        let shape = |image: &ImageHandle| Some((image.dim, image.arrayed));
        let shapes = call.images.iter().map(shape);
        let shapes = shapes.chain(call.samplers.iter().map(|_| None)).chain(call.sampled_images.iter().map(shape));
        for (DescriptorHandle { kind, handle, at }, shape) in call.handles().zip(shapes) {
            if let Some(number) = numbers.get(&slot(at)) {
                self.bindings.handles.insert((kind, handle), (number * OBJECT, shape));
            }
        }
        Ok(())
    }

    /// Sets the parameters of a kernel.
    pub(super) fn arguments(&mut self) {
        let dispatch = self.dispatch;
        let (Some(parameters), Some(call)) = (&self.program.parameters, &dispatch.kernel) else { return };
        for (Parameter { reg, leaves }, argument) in parameters.iter().zip(&call.arguments) {
            let scalars: Vec<u64> = match (leaves, argument) {
                (Some(leaves), Argument::Value { offset }) => leaves
                    .iter()
                    .map(|leaf| {
                        let from = u64::from(*offset) + leaf.offset;
                        let bytes = (from..from + leaf.kind.bytes())
                            .map(|at| dispatch.push_constants.get(at as usize).copied().unwrap_or(0));
                        bytes.rev().fold(0, |bits, byte| bits << 8 | u64::from(byte))
                    })
                    .collect(),
                (_, Argument::Buffer { set, binding }) => {
                    let slot = Slot::new(*set, *binding);
                    let number =
                        self.bindings.pointed.iter().find(|(at, _)| *at == slot).map_or(0, |(_, number)| *number);
                    vec![number * OBJECT]
                }
                (None, Argument::Value { .. }) => Vec::new(),
            };
            for (reg, bits) in (*reg..).zip(scalars) {
                let column = &mut self.columns[reg as usize];
                column.wide = None;
                column.bits.iter_mut().for_each(|lane| *lane = bits);
            }
        }
    }

    pub(super) fn handle(
        &mut self,
        dst: Reg,
        handle: Reg,
        (kind, shape): (HandleKind, Option<(Dim, bool)>),
        lanes: Lanes,
    ) {
        for l in lanes.iter() {
            let found = self.decided(handle, l).and_then(|bits| {
                let what = match self.bindings.handles.get(&(kind, bits)) {
                    Some((pointer, named)) if *named == shape => return Ok(*pointer),
                    Some((_, named)) => {
                        let text = |shape: &Option<(Dim, bool)>| match shape {
                            Some((dim, arrayed)) => format!("{}{}", dim.name(), if *arrayed { " array" } else { "" }),
                            None => "no image".to_owned(),
                        };
                        format!("the {kind} that handle {bits:#x} names is {}, not {}", text(named), text(&shape))
                    }
                    None => format!("handle {bits:#x} names no {kind}"),
                };
                Err(self.fault(FaultKind::Handle, l, || what))
            });
            let (bits, value) = match found {
                Ok(pointer) => (pointer, AbstractValue::Bits),
                Err(cause) => (0, AbstractValue::Unknown(cause)),
            };
            self.columns[dst as usize].set(l, bits, value);
        }
    }
}
