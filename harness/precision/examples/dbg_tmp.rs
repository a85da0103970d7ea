//! tmp
use assay_precision::*; use assay_float::*;
fn main(){
  let m=Modes::default().with("RoundingModeRTE").unwrap();
  let c=Call::new(Op::Asinh,Scalar::Float(F32),Shape::Scalar,None,m).unwrap();
  let r=c.reference(); let ch=Checker::new(c.clone());
  let mut s=1u64; let mut shown=0;
  for _ in 0..20000 { s=s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    let v=(((s>>40) as f64/ (1u64<<24) as f64)*40.0-20.0) as f32; let x=v.to_bits() as u64;
    let p=r.permitted(0,&[x]).usual; let Some(h)=p.hull() else {
        let mut census=Census::default(); ch.check(&[Column::Words(&[x as u32])],&[Column::Words(&[0])],&mut census);
        if !census.verdicts.contains_key(&Verdict::Unchecked) {println!("x {v} unchecked, but {:?}",census.verdicts); shown+=1;} if shown>10 {break;}
        continue};
    for rank in [h.lo-1,h.hi+1] { let got=F32.bits(rank); 
      let mut census=Census::default(); ch.check(&[Column::Words(&[x as u32])],&[Column::Words(&[got as u32])],&mut census);
      if census.verdicts.contains_key(&Verdict::Pass) { println!("x {v} ({x:#x}) got {got:#x} {:?} permitted {:#x}..{:#x}", F32.to_f64(got), F32.bits(h.lo),F32.bits(h.hi)); 
        for st in &c.explain(&[x],None)[0].steps { println!("  {:>w$}{}","",st.text,w=st.depth*2); } shown+=1; }
    }
    if shown>3 {break;}
  }
}
