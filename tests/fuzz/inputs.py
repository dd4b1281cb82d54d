"""Random inputs of the program: command lines of every command, with good and bad options, keys and files.

What keys and values there are is read from the reference pages and the examples of the repository, so that a new key is
tried without a word here. The same random numbers give the same inputs."""
import gzip
import math
import pathlib
import re

# Values that break readers: limits of integers and floats, words, units, escapes, other scripts, nothing.
ODD = ["", "0", "-1", "1", "2", "3", "7", "31", "33", "64", "255", "65536", "2147483647", "2147483648",
       "9223372036854775807", "9223372036854775808", "1e308", "1e-308", "-0", "nan", "inf", "0x10", "010", "1.5", "1,5",
       "true", "null", "~", "[]", "{}", "[1, 2]", "a", "auto", "none", "1x1x1", "16x16", "128x128x8", "4097x1x1",
       "36 MiB", "1 GB/s", "5 W", "2 GHz", "12 cycles", "1e9 B/clk", "é", "日本", "\x1b[31m", "=1+1", "\\", "'", '"',
       "#", "%s%n", "../..", "-", "--", "a" * 600, "9" * 400, "(" * 200]


def number_in(rng, low, high):
    """Often a bound, else evenly spread in logarithm."""
    if rng.random() < 0.3:
        return rng.choice([low, high])
    if low <= 0 or high / low < 100:
        return rng.uniform(low, high)
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def mutated(rng, text):
    """A text with one to four mistakes in its lines, words or characters."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        way = rng.randrange(9)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif way == 2:
            lines[at] = rng.choice(["  ", "\t", "- ", "&a ", "x: "]) + lines[at]
        elif way == 3:
            lines = lines[:at + 1]
        elif way == 4:
            lines[at] = lines[at][:rng.randrange(len(lines[at]) + 1)]
        elif way == 5:
            where = rng.randrange(len(lines[at]) + 1)
            junk = rng.choice(["\x00", "\xff", "\u2028", "[" * 300, "{", "]", "\r", ":", ",", "&", "*", "\x7f"])
            lines[at] = lines[at][:where] + junk + lines[at][where:]
        else:
            words = list(re.finditer(r"[\w.+-]+", lines[at]))
            if words:
                word = rng.choice(words)
                new = rng.choice(ODD)
                if re.fullmatch(r"-?\d+(\.\d*)?", word[0]) and rng.random() < 0.5:
                    new = repr(float(word[0]) * rng.choice([0, -1, 0.5, 2, 1000, 1e9]))
                lines[at] = lines[at][:word.start()] + new + lines[at][word.end():]
        text = "\n".join(lines) or "x"
    return text


class Inputs:
    """Draws command lines; files are written into the folder that a draw is given."""

    def __init__(self, root, seeds):
        self.root = pathlib.Path(root)
        self.seeds = {name: pathlib.Path(path).resolve() for name, path in seeds.items()}
        docs = self.root / "docs"
        self.gpu_files = {p.stem: p for p in (self.root / "arch" / "gpus").rglob("*.yaml")}
        self.gpus = sorted(self.gpu_files)
        self.arch_keys = self._ranges(docs / "reference" / "architecture-reference.md")
        self.kernel_keys = self._takes(docs / "reference" / "kernel-reference.md")
        self.kernels = sorted((self.root / "kernels" / "library").glob("*.yaml"))
        self.names = self._names()

    @staticmethod
    def _table(path, columns):
        rows = [line.strip().strip("|").split(" | ") for line in path.read_text().splitlines() if line.startswith("| `")]
        return [[cell.strip() for cell in row] for row in rows if len(row) >= columns]

    def _ranges(self, path):
        """Key, and its range as (low, high, unit), or nothing where it is no number."""
        keys = {}
        for row in self._table(path, 5):
            bounds = re.fullmatch(r"(\S+) ?(.*?) to (\S+) ?(.*)", row[2])
            keys[row[0].strip("`")] = bounds.groups() if bounds else None
        return keys

    def _takes(self, path):
        return {row[0].strip("`"): row[1] for row in self._table(path, 4)}

    def _names(self):
        found = set()
        for path in (self.root / "tests/data").glob("*_subset.csv"):
            lines = path.read_text().splitlines()
            column = lines[0].split(",").index("kernel_name")
            found |= {line.split(",")[column] for line in lines[1:]}
        return sorted(found - {""})

    # Values.

    def arch_setting(self, rng):
        key, bounds = rng.choice(sorted(self.arch_keys.items(), key=lambda item: item[0]))
        if rng.random() < 0.2 or not bounds:
            return f"arch.{key}={rng.choice(ODD + ['true', 'false'])}"
        low, low_unit, high, high_unit = bounds
        if low_unit == high_unit and rng.random() < 0.6:
            value = number_in(rng, float(low), float(high))
            return f"arch.{key}={value:.6g} {low_unit}".strip() if low_unit else f"arch.{key}={round(value)}"
        return f"arch.{key}=" + rng.choice([f"{low} {low_unit}", f"{high} {high_unit}"]).strip()

    def kernel_setting(self, rng):
        key, takes = rng.choice(sorted(self.kernel_keys.items()))
        if rng.random() < 0.2:
            return f"{key}={rng.choice(ODD)}"
        whole = re.match(r"an integer from (\d+) to (\d+)", takes)
        if whole:
            return f"{key}={round(number_in(rng, float(whole[1]), float(whole[2])))}"
        if takes.startswith("extents"):
            return f"{key}=" + "x".join(str(2 ** rng.randrange(9)) for _ in range(rng.choice([1, 2, 3])))
        return f"{key}=" + rng.choice(re.split(r", | or | \.\.\. ", takes))

    def extent(self, rng):
        if rng.random() < 0.08:
            return rng.choice(["0", "2147483647", "1000000000", "-5", "99999999999999999999"])
        return str(round(2 ** rng.uniform(0, 14)))

    def shape(self, rng):
        return "x".join(self.extent(rng) for _ in range(3)) if rng.random() < 0.97 else rng.choice(ODD)

    def gpu(self, rng, folder):
        draw = rng.random()
        if draw < 0.1:
            return self.arch_file(rng, folder)
        return rng.choice(ODD) if draw < 0.13 else rng.choice(self.gpus)

    def arch_file(self, rng, folder):
        text = mutated(rng, self.gpu_files[rng.choice(self.gpus)].read_text())
        return self.write(folder, "gpu.yaml", text)

    @staticmethod
    def write(folder, name, text):
        data = text.encode("latin-1") if "\xff" in text and text.isascii() else text.encode("utf-8", "surrogatepass")
        if name.endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        (folder / name).write_bytes(data)
        return name

    def seed_text(self, name):
        return self.seeds[name].read_text()

    # Options.

    def kernel(self, rng, folder):
        draw = rng.random()
        if draw < 0.3:
            words = ["--kernel-name", rng.choice(self.names) if rng.random() < 0.7 else
                     mutated(rng, rng.choice(self.names))]
        elif draw < 0.5:
            text = mutated(rng, rng.choice(self.kernels).read_text())
            words = ["--kernel", self.write(folder, "kernel.yaml", text)]
        elif draw < 0.6:
            words = ["--kernel", rng.choice([p.stem for p in self.kernels] + ["auto"])]
        else:
            family = rng.choice(["naive", "blocked", "clblast", "simt", "mma", "wgmma"])
            side = 2 ** rng.randrange(3, 9)
            tile = f"{side}x{2 ** rng.randrange(3, 9)}x{2 ** rng.randrange(3, 7)}"
            words = ["--family", family, "--tile", f"{side}x{side}x{side}" if family == "naive" else tile]
            if family in ("mma", "wgmma"):
                words += ["--dtype", rng.choice(["f16", "bf16", "tf32", "s8", "f8e4m3", "s4"])]
        words += ["--shape", self.shape(rng)]
        if rng.random() < 0.2:
            words += ["--batch", rng.choice(["2", "7", "65536", "2147483647", rng.choice(ODD)])]
        if rng.random() < 0.2:
            words += ["--split-k", rng.choice(["2", "5", "16", "4096", rng.choice(ODD)])]
        if rng.random() < 0.3:
            words += ["--layout", rng.choice(["nn", "nt", "tn", "tt", rng.choice(ODD)])]
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            words += ["--set", self.kernel_setting(rng)]
        return words

    def arch_settings(self, rng):
        return [word for _ in range(rng.choice([0, 0, 1, 1, 2])) for word in ("--set", self.arch_setting(rng))]

    def run_options(self, rng):
        words = []
        if rng.random() < 0.3:
            words += ["--clock", rng.choice(["1.4GHz", "600MHz", "1 MHz", "20GHz", rng.choice(ODD)])]
        if rng.random() < 0.2:
            words += ["--clock-mode", rng.choice(["sustained", "cool", "burst", "x"])]
        if rng.random() < 0.1:
            words += ["--operands", rng.choice(["zeros", "random", "x"])]
        return words

    @staticmethod
    def format(rng, choices=("text", "json", "csv")):
        return ["--format", rng.choice(choices)] if rng.random() < 0.7 else []

    # Commands.

    def simulate(self, rng, folder):
        words = ["simulate", "--arch", self.gpu(rng, folder), *self.kernel(rng, folder), *self.arch_settings(rng)]
        words += self.run_options(rng) + self.format(rng)
        for odds, extra in [(0.2, ["--l2", rng.choice(["warm", "cold", "empty", "x"])]), (0.05, ["--explain"]),
                            (0.05, ["--report", "out.html"]), (0.04, ["--trace", "out.json.gz"]),
                            (0.04, ["--power-trace", "out.csv"]), (0.03, ["--timeline"]),
                            (0.03, [rng.choice(ODD)])]:
            if rng.random() < odds:
                words += extra
        return words

    def assembly(self, rng, folder):
        files = sorted(self.root.glob("examples/*/*.nsass")) + sorted(self.root.glob("tests/data/sass/*.nsass"))
        words = ["simulate", "--arch", rng.choice(self.gpus), "--asm",
                 self.write(folder, "kernel.nsass", mutated(rng, rng.choice(files).read_text()))]
        for option in ("--warps", "--ctas", "--iterations"):
            if rng.random() < 0.3:
                words += [option, rng.choice(["1", "2", "8", "31", rng.choice(ODD)])]
        return words + self.arch_settings(rng) + self.format(rng)

    def compare(self, rng, folder):
        words = ["compare"]
        for _ in range(rng.choice([1, 2, 2, 3])):
            gpu = self.gpu(rng, folder)
            if rng.random() < 0.2:
                gpu += ":" + self.arch_setting(rng).removeprefix("arch.")
            words += ["--arch", gpu]
        if rng.random() < 0.15:
            words += ["--power-limits", rng.choice(["40W,50W,72W", "1W", "0W,100W", rng.choice(ODD)])]
        return words + self.kernel(rng, folder) + self.run_options(rng) + self.format(rng)

    def tune(self, rng, folder):
        words = ["tune", "--arch", self.gpu(rng, folder), "--max-configs", rng.choice(["3", "10", rng.choice(["0", "x"])])]
        if rng.random() < 0.8:
            words += ["--shape", self.shape(rng)]
        else:
            lines = "".join(f"{self.shape(rng)} times={rng.randrange(9)}\n" for _ in range(rng.randrange(1, 3)))
            words += ["--shapes", self.write(folder, "layer.txt", mutated(rng, lines))]
        words += ["--dtype", rng.choice(["f32", "f16", "s8", rng.choice(ODD)]), "--top", rng.choice(["1", "2"])]
        return words + self.arch_settings(rng) + self.format(rng)

    def arch(self, rng, folder):
        draw = rng.random()
        if draw < 0.4:
            return ["arch", "check", self.arch_file(rng, folder)]
        if draw < 0.8:
            return ["arch", "show", self.gpu(rng, folder), *self.arch_settings(rng), *self.format(rng)]
        return ["arch", "show", self.gpu(rng, folder), "--diff", self.gpu(rng, folder), *self.format(rng)]

    def kernel_show(self, rng, folder):
        words = ["kernel", "show", *self.kernel(rng, folder), *self.format(rng)]
        return words + (["--arch", self.gpu(rng, folder)] if rng.random() < 0.5 else [])

    def measured(self, rng, folder, rows=8):
        header, *lines = (self.root / "tests/data" / rng.choice(["library_subset.csv", "measured_subset.csv"])
                          ).read_text().splitlines()
        text = "\n".join([header, *rng.sample(lines, rows)]) + "\n"
        return self.write(folder, rng.choice(["rows.csv", "rows.csv", "rows.csv.gz"]), mutated(rng, text))

    def validate(self, rng, folder):
        words = ["validate", "--data", self.measured(rng, folder), *self.format(rng)]
        for odds, extra in [(0.3, ["--predictions", "predictions.csv"]), (0.1, ["--report", "out.html"]),
                            (0.1, ["--by", rng.choice(["family", "gpu,half", "dtype_in", rng.choice(ODD)])]),
                            (0.1, ["--table", "table.csv"]), (0.1, ["--markdown", "out.md"]),
                            (0.1, ["--model", self.model(rng, folder)])]:
            if rng.random() < odds:
                words += extra
        return words + self.arch_settings(rng)

    def generate(self, rng, folder):
        sweep = self.write(folder, "sweep.yaml", mutated(rng, self.seed_text("sweep")))
        words = ["generate", "--sweep", sweep, "--out", rng.choice(["out.db", "out.csv"])]
        return words + (["--dry-run"] if rng.random() < 0.3 else []) + (["--shard", "1/2"] if rng.random() < 0.1 else [])

    def data_set(self, rng, folder):
        if rng.random() < 0.3:
            data = bytearray(self.seeds["database"].read_bytes())
            for _ in range(rng.choice([0, 1, 8, 64])):
                data[rng.randrange(len(data))] = rng.randrange(256)
            (folder / "in.db").write_bytes(data[:rng.randrange(len(data))] if rng.random() < 0.2 else data)
            return "in.db"
        return self.write(folder, "in.csv", mutated(rng, self.seed_text("table")))

    def train(self, rng, folder):
        words = ["train", "--data", self.data_set(rng, folder), "--out", "model.json", "--trees",
                 rng.choice(["2", "5", rng.choice(ODD)]), "--validate", rng.choice(["none", "shape", "gpu"])]
        for odds, extra in [(0.1, ["--random-forest"]), (0.1, ["--onnx", "model.onnx"]), (0.1, ["--seed", rng.choice(ODD)]),
                            (0.1, ["--monotone", rng.choice(["time_us:k:+", "time_us:x:-", rng.choice(ODD)])]),
                            (0.1, ["--targets", rng.choice(["time_us", "power_w,energy_mj", rng.choice(ODD)])])]:
            if rng.random() < odds:
                words += extra
        return words

    def model(self, rng, folder):
        return self.write(folder, "in.json", mutated(rng, self.seed_text("model")))

    def predict(self, rng, folder):
        words = ["predict", "--model", self.model(rng, folder)]
        if rng.random() < 0.6:
            return words + ["--data", self.data_set(rng, folder), *self.format(rng, ("csv", "json"))]
        return words + ["--arch", self.gpu(rng, folder), *self.kernel(rng, folder), *self.format(rng)]

    def dataset(self, rng, folder):
        draw = rng.random()
        data = self.data_set(rng, folder)
        if draw < 0.4:
            return ["dataset", "info", data, *self.format(rng, ("text", "json"))]
        if draw < 0.7:
            return ["dataset", "export", data, "--out", "out.csv"] + (
                ["--groups", rng.choice(["config", "config,target", rng.choice(ODD)])] if rng.random() < 0.4 else [])
        return ["dataset", "merge", data, data, "--out", "out.db"]

    def calibrate(self, rng, folder):
        names = rng.choice(["launch.kernel", "clock.sustained,power.idle", rng.choice(ODD)])
        return ["calibrate", "--arch", self.gpu(rng, folder), "--data", self.measured(rng, folder, 12), "--set", names,
                "--out", "fitted.yaml", *self.format(rng, ("text", "json"))]

    # How often each command is drawn.
    WEIGHTS = {"simulate": 30, "assembly": 6, "compare": 6, "tune": 3, "arch": 12, "kernel_show": 8, "validate": 8,
               "generate": 8, "train": 6, "predict": 6, "dataset": 5, "calibrate": 2}

    def draw(self, rng, folder):
        kind = rng.choices(list(self.WEIGHTS), list(self.WEIGHTS.values()))[0]
        words = getattr(self, kind)(rng, folder)
        return kind, [word.replace("\x00", "?") for word in words]
