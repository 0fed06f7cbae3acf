//! An MPI as a process that answers questions about datatypes.

use super::recipe::Recipe;
use crate::{Abi, Bounds, Contents, Datatype, Dialect, Error};
use core::ops::Range;
use std::format;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::string::String;
use std::time::Duration;
use std::vec;
use std::vec::Vec;
use tempfile::TempDir;

/// A running MPI process.
#[derive(Debug)]
pub struct Peer {
    name: &'static str,
    dialect: Dialect,
    child: Child,
    questions: Option<ChildStdin>,
    answers: ChildStdout,
    /// Where it was compiled; deleted on drop.
    _folder: TempDir,
}

/// An MPI's answer about a datatype.
#[derive(Debug)]
pub struct Answer {
    /// `MPI_Type_size`
    pub size: usize,
    /// `MPI_Type_get_extent`, `MPI_Type_get_true_extent`
    pub bounds: Bounds,
    /// The bytes that it packed from [`memory`] 0.
    pub packed: Vec<u8>,
    /// [`memory`] 77 after those bytes were unpacked into it.
    pub unpacked: Vec<u8>,
}

/// The time that an MPI takes for all repeats of a round.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// `MPI_Pack`
    pub pack: Duration,
    /// `MPI_Unpack`
    pub unpack: Duration,
}

/// The contents of a buffer of `len` bytes.
#[must_use]
pub fn memory(len: usize, salt: u64) -> Vec<u8> {
    let byte = |i: u64| ((i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    (0..len as u64).map(byte).collect()
}

impl Peer {
    /// The MPIs for which this machine has compilers, of Open MPI and MPICH. For each missing one, the reason.
    #[must_use]
    pub fn all() -> Vec<Result<Self, String>> {
        [("openmpi", Dialect::OpenMpi), ("mpich", Dialect::Mpich)]
            .into_iter()
            .map(|(name, dialect)| Self::start(name, dialect).map_err(|why| format!("{name}: {why}")))
            .collect()
    }

    fn start(name: &'static str, dialect: Dialect) -> Result<Self, String> {
        let folder =
            tempfile::tempdir().map_err(|error| format!("{}: {error}", std::env::temp_dir().display()))?;
        let (source, program) = (folder.path().join("peer.c"), folder.path().join("peer"));
        std::fs::write(&source, include_str!("peer.c"))
            .map_err(|error| format!("{}: {error}", source.display()))?;
        let compiler = format!("mpicc.{name}");
        let mut compile = Command::new(&compiler);
        compile.args(["-O2", "-o"]).arg(&program).arg(&source);
        let compiled = compile.output().map_err(|error| format!("{compiler}: {error}"))?;
        if !compiled.status.success() {
            panic!("{compiler}: {}", String::from_utf8_lossy(&compiled.stderr));
        }
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        Ok(Self { name, dialect, child, questions, answers, _folder: folder })
    }

    /// The MPI's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its rules for the bounds of structures.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Size and bounds, and the bytes of `count` elements, which must lie in `reach`.
    ///
    /// # Panics
    /// If the MPI fails.
    pub fn examine(&mut self, recipe: &Recipe, count: usize, reach: Range<isize>) -> Answer {
        self.ask(1, recipe, count, &reach, (0, 0));
        let size = self.word() as usize;
        let [lb, extent, true_lb, true_extent] = [(); 4].map(|()| self.word() as isize);
        let mut packed = vec![0; self.word() as usize];
        let mut unpacked = vec![0; reach.len()];
        self.read(&mut packed);
        self.read(&mut unpacked);
        Answer { size, bounds: Bounds { lb, extent, true_lb, true_extent }, packed, unpacked }
    }

    /// The type from `MPI_Type_get_envelope` and `MPI_Type_get_contents`, and the numbers used in their results.
    ///
    /// # Errors
    /// As for [`Datatype::from_contents`]
    ///
    /// # Panics
    /// If the MPI fails.
    pub fn contents(&mut self, recipe: &Recipe) -> (Abi, Result<Datatype, Error>) {
        self.ask(3, recipe, 0, &(0..0), (0, 0));
        let mut number = || self.word() as i32;
        let abi = Abi {
            combiner_named: number(),
            combiner_dup: number(),
            combiner_contiguous: number(),
            combiner_vector: number(),
            combiner_hvector: number(),
            combiner_indexed: number(),
            combiner_hindexed: number(),
            combiner_indexed_block: number(),
            combiner_hindexed_block: number(),
            combiner_struct: number(),
            combiner_subarray: number(),
            combiner_darray: number(),
            combiner_resized: number(),
            order_c: number(),
            order_fortran: number(),
            distribute_none: number(),
            distribute_block: number(),
            distribute_cyclic: number(),
            distribute_dflt_darg: number(),
        };
        (abi, self.described(&abi))
    }

    /// A type, preceded by those it is made from. Reads the whole answer, even after an error.
    fn described(&mut self, abi: &Abi) -> Result<Datatype, Error> {
        let combiner = self.word() as i32;
        if combiner == abi.combiner_named {
            return Recipe::Named(self.word() as usize).build(self.dialect);
        }
        let [integers, addresses, types] = [(); 3].map(|()| self.word());
        let integers: Vec<_> = (0..integers).map(|_| self.word() as i32).collect();
        let addresses: Vec<_> = (0..addresses).map(|_| self.word() as isize).collect();
        let mut datatypes: Vec<Result<Datatype, Error>> = Vec::new();
        for i in 0..types as usize {
            let first = self.word() as usize;
            let datatype = if first == i { self.described(abi) } else { datatypes[first].clone() };
            datatypes.push(datatype);
        }
        let datatypes = datatypes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let contents = Contents { integers: &integers, addresses: &addresses, datatypes: &datatypes };
        Datatype::from_contents(abi, combiner, contents)
    }

    /// The times to pack and to unpack `repeats` times, in several rounds.
    ///
    /// # Panics
    /// If the MPI fails.
    pub fn time(
        &mut self,
        recipe: &Recipe,
        count: usize,
        reach: Range<isize>,
        rounds: usize,
        repeats: usize,
    ) -> Vec<Times> {
        self.ask(2, recipe, count, &reach, (rounds, repeats));
        let mut time = || Duration::from_nanos(self.word().max(1) as u64);
        (0..rounds).map(|_| Times { pack: time(), unpack: time() }).collect()
    }

    fn ask(
        &mut self,
        command: i64,
        recipe: &Recipe,
        count: usize,
        reach: &Range<isize>,
        (rounds, repeats): (usize, usize),
    ) {
        let mut words = vec![command, count as i64, reach.start as i64, reach.len() as i64];
        words.extend([rounds as i64, repeats as i64]);
        words.extend(recipe.words());
        let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_ne_bytes).collect();
        let pipe = self.questions.as_mut().expect("a pipe");
        pipe.write_all(&bytes).and_then(|()| pipe.flush()).unwrap_or_else(|error| self.lost(&error, recipe));
    }

    fn word(&mut self) -> i64 {
        let mut bytes = [0; 8];
        self.read(&mut bytes);
        i64::from_ne_bytes(bytes)
    }

    fn read(&mut self, bytes: &mut [u8]) {
        self.answers.read_exact(bytes).unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    fn lost(&self, error: &std::io::Error, recipe: &Recipe) {
        panic!("{}: {error}, at {recipe:?}", self.name);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The program ends when its input ends.
        self.questions.take();
        let _ended = self.child.wait();
    }
}
