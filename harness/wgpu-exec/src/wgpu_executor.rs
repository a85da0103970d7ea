//! Executor for precision cases through wgpu.

use crate::error::{WgpuError, message};
use crate::wgpu_device::{OpenDevice, WgpuDevice, lock};
use crate::wgsl_shader::{CaseBuffer, WORKGROUP, WgslShader, is_half, shader, to_wgsl, uses_f16};
use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use assay_exec::{ExecError, Executor, PreparedCase};
use assay_precision::Specification;
use std::sync::Mutex;
use std::time::Duration;

/// Runs cases through wgpu in this process. It runs only [`to_wgsl`] cases.
pub struct WgpuExecutor {
    device: WgpuDevice,
    open: Mutex<OpenDevice>,
    time_limit: Duration,
}

impl WgpuExecutor {
    /// Opens a device.
    ///
    /// # Errors
    /// wgpu refuses.
    pub fn new(device: WgpuDevice, time_limit: Duration) -> Result<WgpuExecutor, WgpuError> {
        let open = Mutex::new(device.open()?);
        Ok(WgpuExecutor { device, open, time_limit })
    }

    /// Returns the opened device.
    pub fn device(&self) -> &WgpuDevice {
        &self.device
    }
}

impl Executor for WgpuExecutor {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn missing(&self, case: &Case) -> Option<String> {
        if case.call.specification != Specification::Wgsl {
            let why = to_wgsl(case).err().map(|why| why.to_string());
            return Some(why.unwrap_or_else(|| "the case is not WGSL".to_owned()));
        }
        let without = uses_f16(&case.call) && !self.device.has_f16();
        without.then(|| "wgpu does not offer shader-f16 on this device".to_owned())
    }

    fn build(&self, case: &Case, capacity: usize, _: Option<&Columns>) -> Result<Box<dyn PreparedCase>, ExecError> {
        const DURING: &str = "building a pipeline";
        let open = lock(&self.open).clone();
        let WgslShader { text, bindings } =
            shader(case, capacity).map_err(|error| ExecError::Internal(error.to_string()))?;
        let pipeline = open
            .with_error_scopes(DURING, || {
                let module = open.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: None,
                    source: wgpu::ShaderSource::Wgsl(text.into()),
                });
                open.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: None,
                    layout: None,
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                })
            })
            // Refusing valid WGSL is a failure of the implementation.
            .map_err(|(error, failure)| match failure {
                ExecError::Internal(_) => {
                    ExecError::Pipeline(format!("{DURING}: wgpu refuses valid WGSL: {}", message(&error)))
                }
                other => other,
            })?;
        // The parts of a packed word are not values of their own.
        let packed = !bindings.contains(&CaseBuffer::ResultHalves);
        let halves = case.call.result_slots().map(|scalar| is_half(scalar) && !packed).collect();
        Ok(Box::new(WgpuPreparedCase { open, pipeline, bindings, halves, buffers: None, time_limit: self.time_limit }))
    }

    fn recover(&self) -> Result<(), ExecError> {
        *lock(&self.open) = self.device.open().map_err(|error| ExecError::Internal(error.to_string()))?;
        Ok(())
    }
}

struct WgpuPreparedCase {
    open: OpenDevice,
    pipeline: wgpu::ComputePipeline,
    bindings: Vec<CaseBuffer>,
    /// Set for result slots that are halves.
    halves: Vec<bool>,
    /// Created with the first chunk: cases may wait for their turn, and buffers take most memory.
    buffers: Option<Buffers>,
    time_limit: Duration,
}

struct Buffers {
    operands: wgpu::Buffer,
    results: wgpu::Buffer,
    halves: wgpu::Buffer,
    back: wgpu::Buffer,
    halves_back: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// Contents of result words before the shader writes them, which make unwritten words recognisable.
const UNWRITTEN: [u8; 4] = 0xa55a_5aa5u32.to_le_bytes();

impl WgpuPreparedCase {
    fn buffers(&self, operands: &Columns, results: &Columns) -> Result<Buffers, ExecError> {
        use wgpu::BufferUsages as Usage;
        let (device, pipeline) = (&self.open.device, &self.pipeline);
        let made = self.open.with_error_scopes("making buffers", || {
            let buffer = |size: usize, usage: Usage| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: size as u64,
                    usage,
                    mapped_at_creation: false,
                })
            };
            let (input, output) = (size_of_val(operands.words()), size_of_val(results.words()));
            let operands = buffer(input, Usage::STORAGE | Usage::COPY_DST);
            let result = || buffer(output, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC);
            let read = || buffer(output, Usage::COPY_DST | Usage::MAP_READ);
            let (results, halves, back, halves_back) = (result(), result(), read(), read());
            let entries: Vec<wgpu::BindGroupEntry<'_>> = self
                .bindings
                .iter()
                .map(|binding| {
                    let buffer = match binding {
                        CaseBuffer::Operands | CaseBuffer::OperandHalves => &operands,
                        CaseBuffer::Results => &results,
                        CaseBuffer::ResultHalves => &halves,
                    };
                    wgpu::BindGroupEntry { binding: binding.number(), resource: buffer.as_entire_binding() }
                })
                .collect();
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            });
            Buffers { operands, results, halves, back, halves_back, group }
        });
        made.map_err(|(_, failure)| failure)
    }
}

impl WgpuPreparedCase {
    /// Copies the results that are halves from a buffer with the layout of the results.
    fn take_halves(&self, bytes: &[u8], results: &mut Columns) {
        let capacity = results.capacity();
        for (slot, _) in self.halves.iter().enumerate().filter(|(_, half)| **half) {
            let at = results.offset(slot);
            let column = &mut results.words_mut()[at..at + capacity];
            for (word, bytes) in column.iter_mut().zip(bytes[4 * at..].as_chunks::<4>().0) {
                *word = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
            }
        }
    }
}

impl PreparedCase for WgpuPreparedCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        const DURING: &str = "running a shader";
        let buffers = match self.buffers.take() {
            Some(buffers) => buffers,
            None => self.buffers(operands, results)?,
        };
        let unwritten = UNWRITTEN.repeat(results.words().len());
        let groups = (operands.rows() as u32).div_ceil(WORKGROUP);
        let most = self.open.device.limits().max_compute_workgroups_per_dimension;
        let commands = self.open.with_error_scopes(DURING, || {
            self.open.queue.write_buffer(&buffers.operands, 0, bytemuck::cast_slice(operands.words()));
            self.open.queue.write_buffer(&buffers.results, 0, &unwritten);
            self.open.queue.write_buffer(&buffers.halves, 0, &unwritten);
            let mut encoder = self.open.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &buffers.group, &[]);
                pass.dispatch_workgroups(groups.min(most), groups.div_ceil(most), 1);
            }
            encoder.copy_buffer_to_buffer(&buffers.results, 0, &buffers.back, 0, buffers.back.size());
            encoder.copy_buffer_to_buffer(&buffers.halves, 0, &buffers.halves_back, 0, buffers.back.size());
            encoder.finish()
        });
        let commands = commands.map_err(|(_, failure)| failure)?;
        let taken = self.open.run(commands, self.time_limit, DURING)?;
        let words = results.words_mut();
        self.open.read(&buffers.back, DURING, |bytes| {
            bytemuck::cast_slice_mut::<u32, u8>(words).copy_from_slice(bytes);
        })?;
        if self.halves.contains(&true) {
            self.open.read(&buffers.halves_back, DURING, |bytes| self.take_halves(bytes, results))?;
        }
        results.set_rows(operands.rows());
        self.buffers = Some(buffers);
        Ok(taken)
    }
}
