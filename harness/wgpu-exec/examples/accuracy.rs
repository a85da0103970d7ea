//! Prints `reports/wgsl-accuracy.md`.

#![expect(clippy::print_stdout, reason = "it is what the example is for")]

fn main() {
    print!("{}", assay_wgpu_exec::accuracy_document());
}
