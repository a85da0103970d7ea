//! tmp
use assay_precision::*; use assay_float::*; use std::time::Instant;
fn main(){
  for (op,f) in [(Op::FNegate,F32),(Op::Exp2,F32),(Op::Exp,F32),(Op::Log,F32),(Op::Log2,F32),(Op::InverseSqrt,F32),(Op::Sin,F32),(Op::Atan,F32),(Op::Sqrt,F32),(Op::Sinh,F32),(Op::Cosh,F32),(Op::Tan,F32),(Op::Tanh,F32),(Op::Asin,F32),(Op::Acos,F32),(Op::Asinh,F32),(Op::Acosh,F32),(Op::Atanh,F32),(Op::Radians,F32),(Op::Fract,F32),(Op::RoundEven,F32)] {
    let c=Call::new(op,Scalar::Float(f),Shape::Scalar,None,Modes::default()).unwrap();
    let ch=Checker::new(c);
    let n=1<<20; let mut census=Census::default();
    // a sample of all bit patterns: 64 stretches
    let x:Vec<u32>=(0..n as u32).map(|i| (i>>14).wrapping_mul(0x0400_0000).wrapping_add((i&0x3fff)*97+(i>>14)*12345)).collect();
    let y:Vec<u32>=x.iter().map(|&b|{let v=f32::from_bits(b); let w=v as f64; (match op{Op::FNegate=>-w,Op::Exp2=>w.exp2(),Op::Exp=>w.exp(),Op::Log=>w.ln(),Op::Log2=>w.log2(),Op::InverseSqrt=>1.0/w.sqrt(),Op::Sin=>w.sin(),Op::Atan=>w.atan(),Op::Sqrt=>w.sqrt(),Op::Sinh=>w.sinh(),Op::Cosh=>w.cosh(),Op::Tan=>w.tan(),Op::Tanh=>w.tanh(),Op::Asin=>w.asin(),Op::Acos=>w.acos(),Op::Asinh=>w.asinh(),Op::Acosh=>w.acosh(),Op::Atanh=>w.atanh(),Op::Radians=>w.to_radians(),Op::Fract=>w-w.floor(),Op::RoundEven=>w.round_ties_even(),_=>w} as f32).to_bits()}).collect();
    ch.check(&[Column::Words(&x)],&[Column::Words(&y)],&mut Census::default());
    let t=Instant::now();
    ch.check(&[Column::Words(&x)],&[Column::Words(&y)],&mut census);
    println!("{:7} {:12} {:8.1} ns/result  {:?} worst {:?}",COUNT.swap(0,std::sync::atomic::Ordering::Relaxed),op.name(),t.elapsed().as_secs_f64()*1e9/n as f64,census.verdicts,census.worst.map(|w|w.margin));
  }
}
