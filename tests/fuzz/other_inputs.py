"""Random inputs beyond those of GEMMs: compiled kernels and their launches, kernels that move bytes, layers of experts,
whole models and lists of operations, requests of `serve`, boards from data sheets, adaptation, exports, and the
families whose tiles follow rules of their own.

As in inputs.py, texts are mutations of what the repository holds, and the same random numbers give the same inputs."""
import gzip
import json
import pathlib

from inputs import ODD, Inputs, mutated, number_in

LAUNCH = """grid: [{grid}, 1, 1]
block: [{block}, 1, 1]
dynamic_shared: {shared} B
registers: {registers}
args: [{{buffer: a, bytes: {size} MiB}}, {{buffer: b, bytes: {size} MiB, content: idx64}}, {{i32: 1024}}, {{i32: 512}}]
assume:
  - {{at: 0x{at:x}0, taken: {taken}}}
"""
OPERATIONS = """operations:
- {op: linear, M: 16, N: 4096, K: 4096, count: 32}
- {op: attention_prefill, M: 256, N: 256, K: 64, batch: 2, heads: 8, kv_heads: 2}
- {op: moe, M: 64, N: 256, K: 512, batch: 8, top_k: 2}
- {op: elementwise, M: 512, N: 512, reads: 2}
- {op: gemm_weight_only, M: 8, N: 512, K: 512, dtype_in: fp16xint4}
- {op: all_reduce, M: 64, N: 4096, ranks: 4}
"""
MEMORY = ["elementwise", "add", "silu_mul", "gelu", "softmax", "layer_norm", "rms_norm", "rotary", "quantise",
          "transpose", "gather"]
TYPES = ["f32", "f16", "bf16", "tf32", "s8", "s4", "f8e4m3", "mxfp8", "nvfp4", "f64"]


# Options whose file a command writes.
WRITES = {"--report", "--stalls", "--predictions", "--table", "--markdown", "--power-trace", "--trace", "--out",
          "--onnx"}


class OtherInputs(Inputs):
    def __init__(self, root, seeds):
        super().__init__(root, seeds)
        self.listings = sorted([*(self.root / "tests/fuzz/corpus/sass").glob("*.sass"),
                                *self.root.glob("examples/*/*.sass"), *self.root.glob("examples/*/*.sass.gz")])
        self.launches = sorted(self.root.glob("examples/*/launch.yaml"))
        self.models = sorted((self.root / "models").glob("*.yaml"))

    def some(self, rng, words, odds=0.04):
        """One of the words, seldom an odd one."""
        return rng.choice(ODD) if rng.random() < odds else rng.choice(words)

    def half_mutated(self, rng, text):
        """What has to be read whole before the rest counts is left as it is in one of two draws."""
        return text if rng.random() < 0.5 else mutated(rng, text)

    # Options.

    def even_shape(self, rng):
        if rng.random() < 0.2:
            return self.shape(rng)
        return "x".join(str(16 * round(2 ** rng.uniform(0, 9))) for _ in "mnk")

    def tile_family(self, rng):
        """A GPU, and a kernel of a family with rules of its own for tiles, types and shapes."""
        family = rng.choice(["triton", "triton", "attention", "tcgen05", "flash3"])
        boards = {"tcgen05": ["b200-sxm-180gb", "gb300"], "flash3": ["h100-pcie", "gh200"]}.get(family, self.gpus)
        words = ["--arch", rng.choice(boards if rng.random() < 0.9 else self.gpus), "--family", family]
        if family == "triton" and rng.random() < 0.5:
            blocks = ", ".join(f"BLOCK_{side}={2 ** rng.randrange(4, 9)}" for side in "MNK")
            stages = f"num_stages={rng.randrange(1, 7)}, num_warps={2 ** rng.randrange(5)}"
            words += ["--config", self.half_mutated(rng, f"{blocks}, {stages}").replace("\n", " ")]
        else:
            words += ["--tile", self.some(rng, ["128x128x64", "64x64x32", "128x256x64", "128x64x64", "64x128x32"])]
        words += ["--dtype", rng.choice(["f16", "bf16"]) if rng.random() < 0.8 else self.some(rng, TYPES)]
        if family in ("attention", "flash3"):
            side = [str(128 * rng.randrange(1, 9)), rng.choice(["128", "256", "100"]), self.extent(rng)]
            words += ["--shape", "x".join(side), "--batch", self.some(rng, ["1", "8", "64"])]
            words += ["--set", "group=" + self.some(rng, ["1", "4", "8"])]
            words += ["--set", "causal=" + rng.choice(["true", "false"])]
        else:
            words += ["--shape", self.even_shape(rng)] + rng.choice([[], ["--layout", "nt"], ["--layout", "tn"]])
        return words + (["--set", self.kernel_setting(rng)] if rng.random() < 0.2 else [])

    def launch(self, rng):
        if rng.random() < 0.4:
            return self.half_mutated(rng, rng.choice(self.launches).read_text())
        text = LAUNCH.format(grid=round(number_in(rng, 1, 2 ** 31 - 1)),
                             block=round(number_in(rng, 1, 1024)), shared=rng.choice([0, 1024, 232448]),
                             registers=rng.choice([16, 64, 255]), size=rng.choice([0, 1, 4096]),
                             at=rng.randrange(64), taken=rng.choice(["3", "always", "1000000000"]))
        return self.half_mutated(rng, text)

    # Commands.

    def families(self, rng, folder):
        command = rng.choice([["simulate"], ["simulate"], ["kernel", "graph"]])
        words = [*command, *self.tile_family(rng)]
        return words + self.format(rng, ("dot", "svg") if command[0] == "kernel" else ("text", "json", "csv"))

    def compiled(self, rng, folder):
        path = rng.choice(self.listings)
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        listing = self.write(folder, rng.choice(["k.sass", "k.sass", "k.sass.gz"]), self.half_mutated(rng, text))
        words = ["simulate", "--arch", rng.choice(self.gpus), "--sass", listing]
        words += ["--launch", self.write(folder, "launch.yaml", self.launch(rng))]
        for odds, extra in [(0.2, ["--strict"]), (0.2, ["--stalls", rng.choice(["-", "out.csv"])]),
                            (0.1, ["--report", "out.html"]), (0.1, ["--l2", self.some(rng, ["cold", "steady"])])]:
            if rng.random() < odds:
                words += extra
        return words + self.format(rng)

    def line(self, rng, folder):
        if rng.random() < 0.5:
            pairs = {"rows": self.extent(rng), "columns": self.extent(rng), "in": rng.choice(TYPES),
                     "out": rng.choice(TYPES), "inputs": self.some(rng, ["1", "3"]),
                     "special": self.some(rng, ["0", "2"]), "reductions": self.some(rng, ["0", "1", "2"])}
            kept = ["rows", "columns", *rng.sample(sorted(pairs), rng.randrange(4))]
            given = [f"{key}={pairs[key]}" for key in dict.fromkeys(kept)]
            words = ["--memory", " ".join([rng.choice(MEMORY), *given])]
        else:
            text = (f"tokens={self.extent(rng)} experts={self.some(rng, ['8', '128'])} "
                    f"topk={self.some(rng, ['1', '8'])} hidden={self.extent(rng)} intermediate={self.extent(rng)} ")
            words = ["--experts", text + rng.choice(["routing=power_law", "routing=balanced", "", ""])]
        words[1] = words[1] if rng.random() < 0.7 else mutated(rng, words[1]).replace("\n", " ")
        return ["simulate", "--arch", self.gpu(rng, folder), *words, *self.arch_settings(rng), *self.format(rng)]

    def workload(self, rng, folder):
        draw = rng.random()
        if draw < 0.3:
            what = self.write(folder, "model.yaml", self.half_mutated(rng, rng.choice(self.models).read_text()))
        elif draw < 0.6:
            what = self.some(rng, [path.stem for path in self.models])
        elif draw < 0.9:
            what = self.write(folder, "operations.yaml", self.half_mutated(rng, OPERATIONS))
        else:
            what = self.measured(rng, folder, 3)
        model = 1 if draw < 0.6 else 0.05  # how likely options of a step of a model are
        words = ["workload", "--arch", self.gpu(rng, folder), what]
        for odds, extra in [(0.5 * model, ["--phase", self.some(rng, ["prefill", "decode", "training"])]),
                            (0.5 * model, ["--tokens", self.some(rng, ["1", "16,256", "4096", "100000000"])]),
                            (0.2 * model, ["--sequences", self.some(rng, ["1", "8"])]),
                            (0.2 * model, ["--context", self.some(rng, ["0", "2000"])]),
                            (0.2 * model, ["--tensor-parallel", self.some(rng, ["2", "3", "64"])]),
                            (0.1, ["--power-limit", self.some(rng, ["200W,300W", "1W"])]),
                            (0.1, ["--clock-cap", self.some(rng, ["1.2GHz", "1MHz"])]),
                            (0.1, ["--clocks", self.some(rng, ["shared", "each"])]), (0.1, ["--report", "out.html"]),
                            (0.1, ["--launch", "stream", "--dispatch", self.some(rng, ["5us", "0us"])])]:
            if rng.random() < odds:
                words += extra
        return words + self.format(rng)

    def request(self, rng, folder):
        """A line of JSON: the words of another command as keys, and what is no request."""
        words = getattr(self, rng.choice(["simulate", "compare", "kernel_show", "line"]))(rng, folder)
        body = {"id": rng.choice([1, "a", None, [1], {"x": ODD[-3]}])}
        body["command"] = rng.choice([words[0], words[0], "tune", "arch", 3])
        for name, value in zip(words, words[1:] + [""]):
            if name.startswith("--"):
                body[name[2:].replace("-", "_")] = True if value.startswith("--") else value
        text = json.dumps(body)
        return text if rng.random() < 0.6 else mutated(rng, text).replace("\n", " ")

    def serve(self, rng, folder):
        lines = [self.request(rng, folder) for _ in range(rng.randrange(1, 5))]
        self.write(folder, ".in", "\n".join(lines) + rng.choice(["\n", ""]))
        return ["serve", "--jobs", rng.choice(["1", "2"])]

    def board(self, rng, folder):
        if rng.random() < 0.3:
            return ["arch", "scale", self.gpu(rng, folder), "--by", self.some(rng, ["1/4", "0.5", "2", "1/3", "16"])]
        rows = {"from": self.some(rng, ["sm_80", "sm_86", "sm_89", "sm_90"]), "name": "My GPU",
                "sms": self.some(rng, ["1", "58", "1024"]), "boost": self.some(rng, ["2.5 GHz", "10 GHz"]),
                "l2": self.some(rng, ["48 MiB", "64 KiB"]), "dram_bandwidth": self.some(rng, ["300 GB/s", "1 GB/s"]),
                "power": self.some(rng, ["150 W", "10 W"]), "dram_bus": self.some(rng, ["192", "8192"])}
        if rng.random() < 0.5:
            text = "".join(f"{key}: {value}\n" for key, value in rows.items())
            return ["arch", "new", self.write(folder, "sheet.yaml", self.half_mutated(rng, text)), "--out", "out.yaml"]
        return ["arch", "new", *(word for key, value in rows.items() for word in ("--" + key.replace("_", "-"), value))]

    def adapt(self, rng, folder):
        header, *lines = (self.root / "tests/data/library_subset.csv").read_text().splitlines()
        gpu = rng.choice(sorted({line.split(",")[1] for line in lines}))
        text = "\n".join([header, *rng.sample([line for line in lines if line.split(",")[1] == gpu], 16)]) + "\n"
        data = self.write(folder, "rows.csv", self.half_mutated(rng, text))
        words = ["adapt", "--arch", gpu if rng.random() < 0.9 else self.gpu(rng, folder), "--data", data, "--quiet"]
        if rng.random() < 0.3:
            return words + ["--suggest", self.some(rng, ["1", "3"]), "--dtype", self.some(rng, ["f16", "f32,s8"])]
        return words + ["--rows", self.some(rng, ["4", "10"]), "--out", "out", "--prior", self.some(rng, ["none"])]

    def export(self, rng, folder):
        ending = rng.choice(["ngm", "json", "onnx", "hpp", "c", "x"])
        return ["export", "--model", self.model(rng, folder), "--out", f"out.{ending}"]

    def describe(self, rng, folder):
        words = ["dataset", "describe", self.data_set(rng, folder), *self.format(rng, ("text", "json"))]
        return words + (["--against", self.measured(rng, folder)] if rng.random() < 0.5 else [])

    def draw(self, rng, folder):
        """Seldom one of the files to be written leads to a device that is full."""
        kind, words = super().draw(rng, folder)
        outputs = [at for at, word in enumerate(words[:-1], 1) if word in WRITES and pathlib.Path(words[at]).suffix]
        if outputs and rng.random() < 0.2 and "--dry-run" not in words:
            at = rng.choice(outputs)
            if not words[at].endswith((".db", ".so")):
                words[at] = "full" + "".join(pathlib.Path(words[at]).suffixes)
                (folder / words[at]).symlink_to("/dev/full")
        return kind, words

    WEIGHTS = {**Inputs.WEIGHTS, "families": 10, "compiled": 10, "line": 8, "workload": 8, "serve": 6, "board": 6,
               "adapt": 2, "export": 4, "describe": 3}
