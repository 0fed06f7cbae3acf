"""Spack recipe. Into a repository of your own:

    spack repo create mpress-repo && mkdir -p mpress-repo/packages/mpress
    cp package.py mpress-repo/packages/mpress/ && spack repo add mpress-repo
    spack install mpress

From Spack 1.0 on, `spack repo create` says where its folder of packages is. Spack 0.23 is the oldest that has all that the recipe uses.
"""

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cargo import CargoPackage
except ImportError:
    # Before Spack 1.0, `spack.package` exports it.
    pass


class Mpress(CargoPackage):
    """Lossless compression of MPI messages at run time, for programs that stay as they are:
    mpirun -n 64 mpress run -- ./app"""

    homepage = "https://github.com/mpress-hpc/mpress"
    git = "https://github.com/mpress-hpc/mpress.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")

    # Cargo fetches the libraries that Cargo.lock names, so the build needs crates.io or a mirror of it. No MPI is needed: the one that a program uses
    # is found at run time.
    depends_on("rust@1.95:", type="build")
    # For the C library of Zstandard, which is built in.
    depends_on("c", type="build")

    conflicts("platform=darwin", msg="mpress needs Linux")
    conflicts("platform=windows", msg="mpress needs Linux")

    abis = ("openmpi", "mpich", "standard")
    sanity_check_is_file = ["bin/mpress", "lib/libmpress.so"] + [f"lib/libmpress_shim_{abi}.so" for abi in abis]

    def build(self, spec, prefix):
        packages = ["mpress-cli", "mpress-preload"] + [f"mpress-shim-{abi}" for abi in self.abis]
        with working_dir(self.stage.source_path):
            cargo = which("cargo", required=True)
            cargo("build", "--release", "--locked", "-j", str(make_jobs), *[f"-p{name}" for name in packages])

    def install(self, spec, prefix):
        built = join_path(self.stage.source_path, "target", "release")
        mkdirp(prefix.bin, prefix.lib)
        install(join_path(built, "mpress"), prefix.bin)
        install(join_path(built, "libmpress_preload.so"), prefix.lib.join("libmpress.so"))
        for abi in self.abis:
            install(join_path(built, f"libmpress_shim_{abi}.so"), prefix.lib)
        # Man pages and completions.
        Executable(prefix.bin.mpress)("manual", "--prefix", prefix)
