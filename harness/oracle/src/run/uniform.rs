//! Rules on what has to be the same for invocations, and on offsets: only running shows whether they are kept.

use super::lanes::Lanes;
use super::{Run, Stop};
use crate::decode::{OBJECT, counted, outside};
use crate::inst::{Inst, Reach, Reg, SubgroupOp};
use crate::layout::Layout;
use crate::outcome::FaultKind;
use crate::program::Choice;
use crate::value::Value;
use crate::watch::named;
use std::collections::BTreeMap;

impl Run<'_> {
    /// Looks for broken rules on what an instruction is about to do.
    pub(super) fn must_be_uniform(&mut self, inst: &Inst, lanes: Lanes) {
        match inst {
            Inst::Load { pointer, physical: None, .. } => {
                self.chosen_uniformly(*pointer, lanes);
                self.pushed_uniformly(*pointer, lanes);
            }
            Inst::Store { pointer, physical: None, .. } | Inst::Atomic { pointer, physical: false, .. } => {
                self.chosen_uniformly(*pointer, lanes);
            }
            Inst::ImageRead { image, .. }
            | Inst::ImageWrite { image, .. }
            | Inst::ImageQuery { image, .. }
            | Inst::TexelPointer { image, .. } => self.chosen_uniformly(*image, lanes),
            Inst::LookUp(look_up) => self.chosen_uniformly(look_up.image, lanes),
            Inst::Subgroup { op, value, n, second, .. } => {
                self.same_in_subgroup(*op, (*value, *n), *second, lanes);
                self.cluster_fits(*op, lanes);
            }
            _ => {}
        }
    }

    /// The lanes that run for sure and whose bits of a register are known, with these.
    fn known(&self, reg: Reg, lanes: Lanes) -> Vec<(usize, u64)> {
        let column = &self.columns[reg as usize];
        let sure = lanes.iter().filter(|l| !self.forks.is_weak(*l) && *column.value(*l) == Value::Bits);
        sure.map(|l| (l, column.bits[l])).collect()
    }

    /// Where a resource has to be the same for a subgroup, the number of a lane's; else one for the whole workgroup. Where
    /// the layout of subgroups is not known any two lanes may be in one.
    fn subgroup_of(&self, lane: usize) -> usize {
        match self.dispatch.subgroup_size {
            1 => 0,
            _ => self.seat(lane).map_or(0, |seat| seat.subgroup as usize),
        }
    }

    /// A descriptor of an array is the same for all invocations of a subgroup (of the workgroup, with subgroups of 1), unless
    /// its capability is declared and the operand decorated `NonUniform`: VUIDs 10134 to 10149.
    fn chosen_uniformly(&mut self, operand: Reg, lanes: Lanes) {
        if !self.program.objects.iter().any(|object| object.count > 1) {
            return;
        }
        let mut first: BTreeMap<(usize, u64, bool), u64> = BTreeMap::new();
        for (lane, bits) in self.known(operand, lanes) {
            // A sampled image is its image's number, with the sampler's behind it.
            let (image, sampler) = (counted(bits).0, (bits % OBJECT).checked_sub(1).filter(|_| self.is_sampled(bits)));
            for (number, second) in [(Some(image), false), (sampler, true)] {
                let Some(number) = number.filter(|_| outside(bits).is_none()) else { continue };
                let declared = self.program.objects.iter().find(|o| (o.first..o.first + o.count).contains(&number));
                let Some(object) = declared.filter(|object| object.count > 1) else { continue };
                let same = *first.entry((self.subgroup_of(lane), object.first, second)).or_insert(number);
                if same == number {
                    continue;
                }
                let (here, there, choice) = (number - object.first, same - object.first, object.choice);
                self.not_uniform(operand, choice, (here, there), lane);
                return;
            }
        }
    }

    /// Whether a handle is that of a sampled image made of two descriptors.
    fn is_sampled(&self, bits: u64) -> bool {
        let image = self.object_of(bits).is_some_and(|object| self.images.get(object).is_some_and(Option::is_some));
        image && !bits.is_multiple_of(OBJECT)
    }

    fn not_uniform(&mut self, operand: Reg, choice: Option<Choice>, (here, there): (u64, u64), lane: usize) {
        let Some(choice) = choice else { return };
        let alone = self.dispatch.subgroup_size == 1;
        let rule = match (choice.allowed, self.program.non_uniform.contains(&operand), alone) {
            (false, _, false) => choice.of.rule(),
            (false, _, true) => choice.of.rule_alone(),
            (true, false, false) => "10149",
            (true, false, true) => "10148",
            (true, true, _) => return,
        };
        self.fault(FaultKind::Rule, lane, || {
            format!("{}: descriptor {here} of the array here, {there} in another invocation", named(rule))
        });
    }

    /// Arrays of push constants are indexed uniformly.
    fn pushed_uniformly(&mut self, pointer: Reg, lanes: Lanes) {
        if !self.program.pushed.contains(&pointer) {
            return;
        }
        let mut pushed = self.known(pointer, lanes).into_iter();
        let Some((_, first)) = pushed.next() else { return };
        if let Some((lane, other)) = pushed.find(|(_, bits)| *bits != first) {
            self.fault(FaultKind::Rule, lane, || {
                format!("{}: byte {other} here, byte {first} in another invocation", named("04745"))
            });
        }
    }

    /// Who broadcasts is the same for all invocations of a subgroup, or of a quad, and so are by how much a subgroup is rotated and a
    /// ballot that is asked for its bits.
    fn same_in_subgroup(&mut self, op: SubgroupOp, (value, n): (Reg, u32), second: Reg, lanes: Lanes) {
        let (rule, of) = match op {
            SubgroupOp::Broadcast => ("06277", second..second + 1),
            SubgroupOp::QuadBroadcast => ("06276", second..second + 1),
            SubgroupOp::Rotate { .. } => ("OpGroupNonUniformRotateKHR: Delta", second..second + 1),
            SubgroupOp::InverseBallot => ("OpGroupNonUniformInverseBallot: Value", value..value + n),
            _ => return,
        };
        // Of a layout that is not known the result is undetermined anyway.
        if self.dispatch.layout == Layout::Unknown {
            return;
        }
        let in_quads = op == SubgroupOp::QuadBroadcast;
        for reg in of {
            // Of several tangles each executes an instance of its own, for all that is certain.
            let mut first: BTreeMap<(usize, u32, (u32, u32)), u64> = BTreeMap::new();
            for (lane, id) in self.known(reg, lanes) {
                let tangle = if self.program.reconverges { (0, 0) } else { self.tangles.of(lane) };
                let quad = if in_quads { self.seat(lane).map_or(0, |seat| seat.place / 4) } else { 0 };
                let same = *first.entry((self.subgroup_of(lane), quad, tangle)).or_insert(id);
                if same != id {
                    let of = if in_quads { "quad" } else { "subgroup" };
                    self.fault(FaultKind::Rule, lane, || {
                        format!("{}: {id} here, {same} in another invocation of the {of}", named(rule))
                    });
                    return;
                }
            }
        }
    }

    /// "Behavior is undefined unless ClusterSize is at least 1 and a power of 2. If ClusterSize is greater than the size of the scope,
    /// executing this instruction results in undefined behavior."
    fn cluster_fits(&mut self, op: SubgroupOp, lanes: Lanes) {
        let cluster = match op {
            SubgroupOp::Fold { reach: Reach::Cluster(size), .. } => size,
            SubgroupOp::Rotate { cluster: Some(size) } => size,
            _ => return,
        };
        let subgroup = self.dispatch.subgroup_size;
        if cluster.is_power_of_two() && cluster <= subgroup {
            return;
        }
        let lane = lanes.iter().find(|l| !self.forks.is_weak(*l)).unwrap_or(lanes.list[0] as usize);
        self.fault(FaultKind::Rule, lane, || {
            format!("{}: a cluster of {cluster} in a subgroup of {subgroup}", named("ClusterSize"))
        });
    }

    /// `OpAssumeTrueKHR`: "Behavior is undefined if Condition is false". Where it may be, nothing that comes after is known.
    pub(super) fn assume(&mut self, condition: Reg, lanes: Lanes) -> Result<(), Stop> {
        for l in lanes.iter() {
            let cause = match self.decided(condition, l) {
                Ok(0) => {
                    self.fault(FaultKind::Rule, l, || format!("{}: it is false", named("OpAssumeTrueKHR: Condition")))
                }
                Ok(_) => continue,
                Err(cause) => cause,
            };
            return Err(self.lose_everything(cause));
        }
        Ok(())
    }

    /// An offset of a gather, or of another lookup, is within what the device takes; else the cause for what follows.
    pub(super) fn offset_within(&mut self, offset: i64, gather: bool, lane: usize) -> Result<i64, u32> {
        let (limits, least, most) = match gather {
            true => (self.dispatch.offsets.gather, "06376", "06377"),
            false => (self.dispatch.offsets.sample, "06435", "06436"),
        };
        let rule = if offset < i64::from(limits[0]) {
            least
        } else if offset > i64::from(limits[1]) {
            most
        } else {
            return Ok(offset);
        };
        let detail = || format!("{}: an offset of {offset}, of {} to {}", named(rule), limits[0], limits[1]);
        Err(self.fault(FaultKind::Rule, lane, detail))
    }
}
