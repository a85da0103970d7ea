//! Rate at which results of gathers are checked on one core: by the fast reference, and by the
//! interpreter.

use assay_oracle::sample::{GatherReference, Verdict};
use assay_oracle::{Filtering, Image};
use assay_spirv::tables::{Dim, ImageFormat};
use assay_texture::{AddressMode, GatherMode, ImageView, Sampler};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const SIDE: u32 = 256;

/// Texels that differ from their neighbours and are finite in every format.
fn image(format: ImageFormat, bytes: usize) -> Image {
    let data = (0..SIDE as usize * SIDE as usize * bytes).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8 & 0x3b);
    let extent = [SIDE, SIDE, 1];
    Image {
        dim: Dim::Dim2D,
        extent,
        layers: 1,
        levels: 1,
        samples: 1,
        format,
        depth: false,
        view: ImageView::ALL,
        data: data.collect(),
    }
}

/// Gathered texels of a correct device, computed in plain Rust, at places around and inside the
/// image.
fn gathered(image: &Image, mode: GatherMode, address: AddressMode) -> Vec<([f32; 3], [u32; 4])> {
    let at = |i: i64, j: i64| -> u32 {
        let (Some(x), Some(y)) = (address.texel(i, SIDE), address.texel(j, SIDE)) else { return 0 };
        let first = (y * SIDE + x) as usize * 16;
        u32::from_le_bytes([image.data[first], image.data[first + 1], image.data[first + 2], image.data[first + 3]])
    };
    (0..1 << 16)
        .map(|n: u32| {
            let (i, j) = (i64::from(n % 300) - 20, i64::from(n / 300) - 20);
            let place = [(i as f32 + 0.75) / SIDE as f32, (j as f32 + 0.75) / SIDE as f32, 0.0];
            (place, mode.offsets().map(|[dx, dy]| at(i + i64::from(dx), j + i64::from(dy))))
        })
        .collect()
}

fn reference(c: &mut Criterion) {
    let mut group = c.benchmark_group("gather");
    let image = image(ImageFormat::Rgba32ui, 16);
    for mode in GatherMode::ALL {
        for address in [AddressMode::Repeat, AddressMode::ClampToBorder] {
            let sampler = Sampler {
                address: [address; 3],
                border: assay_texture::BorderColor::IntTransparentBlack,
                ..Sampler::NEAREST
            };
            let filtering = Filtering { sub_texel_bits: 8, mipmap_bits: 8 };
            let reference = GatherReference::new(&image, false, &sampler, 0, filtering).expect("a reference");
            let results = gathered(&image, mode, address);
            let all =
                || results.iter().filter(|(at, got)| reference.judge(mode, *at, [0; 2], *got) == Verdict::Permitted);
            assert_eq!(all().count(), results.len(), "{mode} {address}");
            group.throughput(Throughput::Elements(4 * results.len() as u64));
            group.bench_function(format!("texels/{mode}/{address}"), |b| b.iter(|| black_box(all().count())));
        }
    }
    group.finish();
}

criterion_group!(benches, reference);
criterion_main!(benches);
