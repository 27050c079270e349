"""The program of the load, as it is written for other solvers, has the load as its optimum by another solver."""

import pytest
import synthsched as ss

highspy = pytest.importorskip("highspy")


@pytest.mark.parametrize("name", ["section7", "four_types", "vms", "one_or_all", "fleet", "gangs"])
def test_optimum_is_the_load(tmp_path, name):
    file = tmp_path / "program.lp"
    file.write_text(ss.run("export lp", ss.model(name)).text)
    solver = highspy.Highs()
    solver.silent()
    assert solver.readModel(str(file)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    family = "partition" if name in ("fleet", "gangs") else "msr"
    load = ss.synthesize(ss.model(name), family=family, work=4e6).load
    assert solver.getObjectiveValue() == pytest.approx(1 / load, rel=1e-9)
