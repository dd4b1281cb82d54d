"""The Python module: results are the command's, data sets are arrays, mistakes are exceptions, threads run side by side."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import noteg

kernel = {"family": "simt", "tile": (64, 64, 8), "shape": (256, 256, 128)}
sweep = {
    "method": "random",
    "rows": 40,
    "seed": 2,
    "gpus": ["l4", "rtx4070"],
    "shape": {axis: {"from": 128, "to": 1024, "multiple_of": 64} for axis in ("m", "n", "k")},
    "kernels": [{"family": "simt", "tile": ["128x128x8", "64x64x8"]}],
}


class Module(unittest.TestCase):
    def test_simulate_says_what_the_command_says(self):
        run = noteg.simulate("l4", **kernel)
        self.assertEqual(run["arch"], "l4")
        self.assertAlmostEqual(sum(run["phases_us"].values()), run["time_us"], delta=1e-6 * run["time_us"])
        program = os.environ.get("NOTEG")
        if program:
            words = "simulate --arch l4 --family simt --tile 64x64x8 --shape 256x256x128 --format json".split()
            self.assertEqual(run, json.loads(subprocess.run([program, *words], capture_output=True, check=True).stdout))

    def test_options_become_keywords(self):
        slower = noteg.simulate("l4", **kernel, clock="800MHz", set={"arch.l2.size": "24 MiB", "stages": 2})
        self.assertEqual(slower["sm_clock_mhz"], 800)
        self.assertIn("explain", noteg.simulate("l4", **kernel, explain=True))

    def test_numbers_of_numpy_are_numbers(self):
        shape = (256, 128, 64)
        rest = {name: value for name, value in kernel.items() if name != "shape"}
        told = noteg.simulate("l4", **rest, shape=shape, batch=2)
        for same in (tuple(np.int64(extent) for extent in shape), np.array(shape)):
            self.assertEqual(noteg.simulate("l4", **rest, shape=same, batch=np.int32(2), quiet=np.bool_(True)), told)
        rows = noteg.generate({**sweep, "labels": ["a"]}, jobs=np.int64(2))
        self.assertEqual(len(noteg.generate({**sweep, "seed": np.int64(1), "labels": ["a"]})["time_us"]), len(rows["time_us"]))

    def test_numbers_side_by_side_are_one_value(self):
        rest = {name: value for name, value in kernel.items() if name != "shape"}
        told = noteg.simulate("l4", **rest, shape=(256, 128, 64))
        for same in ([256, 128, 64], [np.int64(256), 128, 64]):
            self.assertEqual(noteg.simulate("l4", **rest, shape=same), told)
        with self.assertRaises(noteg.InputError) as caught:
            noteg.simulate("l4", **rest, shape=(256.5, 128, 64))
        self.assertIn("256.5x128x64", str(caught.exception))
        for tokens in ([1, 4], (1, 4), np.array([1, 4])):
            self.assertEqual(noteg.workload("l4", "gpt-2", tokens=tokens), noteg.workload("l4", "gpt-2", tokens="1,4"))
        self.assertEqual(noteg.simulate("l4", **rest, shape=[]), [])

    def test_a_list_of_texts_is_a_list_of_limits(self):
        told = noteg.compare("l4", **kernel, power_limits="40W,72W")
        self.assertEqual(noteg.compare("l4", **kernel, power_limits=["40W", "72W"]), told)

    def test_a_file_is_read_anew(self):
        examples = pathlib.Path(__file__).parents[2] / "examples" / "your_kernel"
        times = []
        with tempfile.TemporaryDirectory() as folder:
            launch = pathlib.Path(folder) / "launch.yaml"
            for ctas in (16384, 8192):
                launch.write_text((examples / "launch.yaml").read_text().replace("[16384]", f"[{ctas}]"))
                run = noteg.simulate("h200-sxm-141gb", sass=examples / "layernorm.sass.gz", launch=launch)
                self.assertIn(f"{ctas} x 1 x 1 CTAs", repr(run))
                times.append(run["time_us"])
        self.assertGreater(times[0], 1.5 * times[1])

    def test_every_result_shows_itself(self):
        chain = pathlib.Path(__file__).parents[2] / "examples" / "02_micro_kernel" / "lds_chain.nsass"
        for what in ({"memory": "softmax rows=64 columns=64"}, {"asm": chain},
                     {"experts": "tokens=9 topk=1 hidden=256 intermediate=128 loads=2:0:7"}):
            run = noteg.simulate("l4", **what)
            self.assertIn("l4", repr(run))
            self.assertIn("<table>", run._repr_html_())
        self.assertIn("core.rfc", [each["name"] for each in noteg.simulate("l4", list_switches=True)])

    def test_a_list_of_shapes_gives_a_list_of_runs(self):
        rest = {name: value for name, value in kernel.items() if name != "shape"}
        runs = noteg.simulate("l4", **rest, shape=[(256, 256, 128), (512, 256, 128)])
        self.assertEqual([run["kernel"]["m"] for run in runs], [256, 512])
        self.assertEqual(noteg.simulate("l4", **rest, shape=np.array([[256, 256, 128]])), runs[:1])

    def test_a_run_shows_itself(self):
        run = noteg.simulate("l4", **kernel)
        self.assertIn("<table>", run._repr_html_())
        self.assertIn("TFLOP/s", repr(run))
        run["time_us"] = 0
        self.assertNotEqual(noteg.simulate("l4", **kernel)["time_us"], 0, "what is remembered is nobody's to change")

    def test_says_what_there_is(self):
        self.assertIn("l4", noteg.gpus())
        self.assertIn("sgemm_128x128x8", noteg.kernels())

    def test_plots_take_the_axes_given(self):
        class Axes:
            lines = 0

            def plot(self, x, y, *rest, **options):
                self.lines += 1
                return [self]

            def get_color(self): return "C0"
            def set(self, **options): pass
            def legend(self): pass

        axes = Axes()
        noteg.plot_sweep(["l4", "rtx4070"], "m", np.arange(256, 1024, 256), (256, 256, 128), axes=axes, family="simt", tile=(64, 64, 8))
        self.assertEqual(axes.lines, 2)
        noteg.plot_roofline(noteg.simulate("l4", **kernel), axes=axes)
        self.assertEqual(axes.lines, 4)

    def test_a_model_of_nested_brackets_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for key in ("version", "metrics"):
                with open(f"{folder}/m.json", "w", encoding="utf-8") as file:
                    file.write('{"schema":"noteg-model","' + key + '":' + "[" * 100_000 + "]" * 100_000 + "}")
                with self.assertRaises(noteg.InputError) as caught:
                    noteg.Model(f"{folder}/m.json")
                self.assertIn("32 levels of nesting", str(caught.exception))

    def test_compare_and_tune(self):
        sides = noteg.compare(["l4", "rtx4070"], **kernel)
        self.assertEqual([gpu["label"] for gpu in sides["gpus"]], ["l4", "rtx4070"])
        best = noteg.tune("a100-pcie-40gb", shape=(512, 512, 256), dtype="f16", max_configs=10, top=2)
        times = [each["time_us"] for each in best["problems"][0]["top"]]
        self.assertEqual(times, sorted(times))

    def test_a_service_says_what_the_functions_say(self):
        service = noteg.Service()
        options = dict(family="simt", tile=(128, 128, 8), shape=(256, 256, 64))
        self.assertEqual(service.simulate(arch="l4", **options), noteg.simulate("l4", **options))
        self.assertEqual(service.workload("gpt-2", arch="l4"), noteg.workload("l4", "gpt-2"))
        self.assertEqual(json.loads(service.ask("nonsense"))["status"], 2)
        with self.assertRaises(noteg.InputError):
            service.simulate(arch="l5")

    def test_data_sets_are_arrays(self):
        data = noteg.generate(sweep)
        self.assertEqual(len(data["time_us"]), 40)
        self.assertEqual(data["time_us"].dtype, np.float64)
        self.assertEqual(set(data["arch"]), {"l4", "rtx4070"})
        np.testing.assert_allclose(data["energy_mj"], data["power_w"] * data["time_us"] * 1e-3, rtol=1e-6)

    def test_generate_goes_on_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "d.db"
            first, second = noteg.generate(sweep, out=path), noteg.generate(sweep, out=path)
            np.testing.assert_array_equal(first["time_us"], second["time_us"])

    def test_models_predict_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            data, model = f"{folder}/d.db", f"{folder}/m.json"
            columns = noteg.generate(sweep, out=data)
            self.assertEqual(noteg._core.run("train", [f"--data={data}", f"--out={model}", "--trees=10",
                                                       "--validate=shape", "--quiet"])[0], 0)
            loaded = noteg.Model(model)
            self.assertIn("time_us", loaded.targets)
            said = noteg.predict(loaded, columns)
            self.assertEqual(said["time_us"].shape, columns["time_us"].shape)
            self.assertTrue(np.all(said["time_us_low_95"] <= said["time_us_high_95"]))
            self.assertLess(np.median(np.abs(said["time_us"] / columns["time_us"] - 1)), 0.5)
            one = noteg.predict(model, arch="l4", **kernel)
            self.assertGreater(one["time_us"]["value"], 0)

    def test_mistakes_are_exceptions_with_the_commands_text(self):
        with self.assertRaises(noteg.InputError) as caught:
            noteg.simulate("no-such-gpu", **kernel)
        self.assertIn("no-such-gpu", str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(noteg.InputError) as caught:
            noteg.simulate("l4", **kernel, no_such_option=1)
        self.assertIn("--no-such-option", str(caught.exception))
        with self.assertRaises(noteg.RunError):
            noteg.simulate("l4", **kernel, report="/dev/full")
        with self.assertRaises(noteg.InputError):
            noteg.Model("/no/such/model.json")
        with self.assertRaises(TypeError) as caught:
            noteg.generate({**sweep, "gpus": {"l4"}})
        self.assertIn("found a set", str(caught.exception))

    def test_threads_run_side_by_side(self):
        # With the GIL held the counting thread would stand still while the others simulate.
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1

        results = [None] * 2

        def simulate(place):
            results[place] = noteg.simulate("l4", family="simt", tile=(128, 128, 8), shape=(1024, 1024, 1024))

        counter = threading.Thread(target=count)
        others = [threading.Thread(target=simulate, args=(place,)) for place in range(2)]
        counter.start()
        for each in others:
            each.start()
        for each in others:
            each.join()
        stop.set()
        counter.join()
        self.assertEqual(results[0], results[1])
        self.assertGreater(counted[0], 1000)

    def test_typed(self):
        folder = pathlib.Path(noteg.__file__).parent
        for name in ("py.typed", "__init__.pyi", "_core.pyi"):
            self.assertTrue((folder / name).exists(), name)
        compile((folder / "__init__.pyi").read_text(), "__init__.pyi", "exec")

    def test_example_runs(self):
        example = pathlib.Path(__file__).parents[2] / "examples" / "python" / "explore.py"
        ran = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("30 rows", ran.stdout)
        self.assertIn("l5", ran.stdout)


if __name__ == "__main__":
    unittest.main()
