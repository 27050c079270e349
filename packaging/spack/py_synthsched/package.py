# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PySynthsched(PythonPackage):
    """Compiles the workload of a cluster into a scheduling policy with a proof, and checks the
    policy by simulation."""

    # The values marked PLACEHOLDER are set at a release.
    homepage = "https://PLACEHOLDER.invalid"
    url = "https://PLACEHOLDER.invalid/releases/download/v0.1.0/synthsched-0.1.0.tar.gz"

    license("MIT OR Apache-2.0", checked_by="PLACEHOLDER")

    version("0.1.0", sha256="0" * 64)  # PLACEHOLDER

    depends_on("python@3.9:", type=("build", "run"))

    # cargo fetches crates: the build needs the network, as that of other packages made by maturin.
    with default_args(type="build"):
        depends_on("c")
        depends_on("cxx")
        depends_on("py-maturin@1.9:1")
        depends_on("rust@1.89:")
        # Spack has no HiGHS (py-highspy exports no C functions): it is compiled.
        depends_on("cmake@3.15:")
        depends_on("gmake")
        # bindgen reads structs wrongly with libclang 22.
        depends_on("llvm@9:21 +clang")

    def setup_build_environment(self, env):
        env.set("LIBCLANG_PATH", self.spec["llvm"].prefix.lib)
