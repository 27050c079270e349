"""Logs from frames."""

import datetime
import math

import pytest
import synthsched as ss

LOG = {"submit": [0, 10.0, 20, 30], "start": [0, 12, 25, 40], "end": [10, 30, 70, 50], "cpu": [1, 2, 1, 4]}
TIMES = ("submit", "start", "end")


def jobs(frame, **options):
    return ss.Trace(frame, capacity="cpu=4", **options).jobs("fcfs").where(policy="fcfs").to_dict()


@pytest.fixture
def expected():
    found = jobs(LOG)
    # First come, first served: the last job needs all four.
    assert found["start"] == [0, 10, 20, 65] and found["end"] == [10, 28, 65, 75]
    return found


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


def dated(pandas, zones):
    """Return the log with dates, each column in a zone; None is one without."""
    frame = pandas.DataFrame(LOG)
    for name, zone in zip(TIMES, zones):
        frame[name] = pandas.to_datetime(1.7e9 + frame[name], unit="s", utc=True)
        frame[name] = frame[name].dt.tz_localize(None) if zone is None else frame[name].dt.tz_convert(zone)
    return frame


def test_a_file_and_its_frame_agree(expected, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ss.Table(LOG).to_csv())
    assert jobs(path) == expected == jobs(str(path))


def test_kinds_of_frames(expected, pandas):
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame(LOG)
    for own in (
        frame,
        frame.set_index(pandas.Index([5, 5, 7, 1])),
        frame.astype("float32"),
        frame.convert_dtypes(),
        polars.DataFrame(LOG, strict=False),
        ss.Table(LOG),
        {name: tuple(values) for name, values in LOG.items()},
        {name: [str(value) for value in values] for name, values in LOG.items()},
        {**LOG, "cpu": [1.0, 2.0, 1.0, 4.0]},
    ):
        assert jobs(own) == expected


@pytest.mark.parametrize(
    "zones",
    [
        ("UTC", "UTC", "UTC"),
        (None, None, None),
        ("Europe/Berlin", "Asia/Tokyo", "America/St_Johns"),
        ("Asia/Kathmandu", None, "UTC"),
    ],
)
def test_dates(zones, expected, pandas):
    polars = pytest.importorskip("polars")
    frame = dated(pandas, zones)
    assert jobs(frame) == expected
    columns = {name: list(frame[name]) for name in frame.columns}
    assert jobs(columns) == expected
    if len(set(zones)) == 1:
        assert jobs(polars.DataFrame(columns)) == expected


def test_dates_over_the_change_of_clocks(pandas):
    # The hour of 2 o'clock comes twice in Berlin on this night: two jobs an hour apart are so in the log.
    times = pandas.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30"], utc=True).tz_convert("Europe/Berlin")
    assert [str(time)[11:16] for time in times] == ["02:30", "02:30"]
    found = jobs(pandas.DataFrame({"submit": times, "size": [60, 60], "cpu": 1}))
    assert found["submit"] == [0, 3600]


def test_lengths_of_time(pandas):
    seconds = [90, 120]
    deltas = [datetime.timedelta(seconds=n) for n in seconds]
    frame = {"submit": [0, 1], "cpu": [1, 1]}
    plain = jobs({**frame, "size": seconds})
    assert plain["size"] == seconds
    assert jobs({**frame, "size": deltas}) == plain
    assert jobs(pandas.DataFrame({**frame, "size": pandas.to_timedelta(seconds, unit="s")})) == plain


def test_missing_values(expected, pandas):
    without = jobs({name: [values[0], *values[2:]] for name, values in LOG.items()})
    for none in (None, math.nan, float("nan")):
        frame = {**LOG, "cpu": [1, none, 1, 4]}
        assert jobs(frame)["start"] == without["start"] == [0, 20, 65]
    frame = pandas.DataFrame(LOG).astype({"cpu": "Int64"})
    frame.loc[1, "cpu"] = pandas.NA
    assert jobs(frame)["start"] == without["start"]
    frame = dated(pandas, ["UTC"] * 3)
    frame.loc[1, ["start", "end"]] = pandas.NaT
    assert jobs(frame)["start"] == without["start"]


def test_other_names():
    frame = {"when": [0, 1], "took": [5, 6], "cores": [1, 2]}
    for columns in ({"time": "when", "size": "took", "cpu": "cores"}, "time=when,size=took,cpu=cores"):
        assert jobs(frame, columns=columns)["size"] == [5, 6]


@pytest.mark.parametrize(
    "frame, words",
    [
        ({"cpu": [1, 2]}, "cpu"),
        ({"submit": [0, 1], "cpu": [1, 2]}, "`size`"),
        ({"submit": [0, 1], "size": [1, 2]}, "`cpu`"),
        ({"submit": [], "size": [], "cpu": []}, "no rows"),
        ({}, "no rows"),
        ({**LOG, "end": [math.inf, 30, 70, 50]}, "column end, row 0: inf"),
        ({**LOG, "submit": [math.nan, 10, 20, 30]}, "expected a time"),
        ({**LOG, "cpu": [math.nan] * 4}, "request no resources"),
        ({**LOG, "cpu": [-1, 2, 1, 4]}, "found `-1`"),
        ({**LOG, "submit": [0, 1, 2, 1e300]}, "expected a time"),
        ({"submit": [0, 1], "size": [1], "cpu": [1, 2]}, "different lengths"),
        ({"submit": [0, 1], "size": 5, "cpu": [1, 2]}, "column size"),
        ({**LOG, "user": ["\ud800", "b", "c", "d"]}, "not valid text"),
        ([1, 2], "list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_log(frame, words):
    with pytest.raises(ss.InputError, match=words.replace("`", ".")):
        jobs(frame)


def test_a_workload_of_a_frame():
    frame = {
        "submit": list(range(100)),
        "size": [5.0 + i % 7 for i in range(100)],
        "cpu": [1 + i % 2 for i in range(100)],
    }
    fitted = ss.Workload.fit(frame, capacity="cpu=16", max_types=2)
    assert fitted.document.startswith("kind: multiresource")
    found = ss.compare(fitted, ["first-fit"], loads=[0.3], events=20000)
    assert set(found.numbers["load"]) == {0.3} and set(found.numbers["type"]) > {"all"}
