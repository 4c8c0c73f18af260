"""Compiles and samples a rendered Stan program: python run_stan.py PROGRAM.stan MODEL.md

Means of the states, given 20 observations of the model, must be those of `reference.py`, which conditions the whole
sequence as one Gaussian, to 5 standard errors of the samples. Without a C++ compiler, only Stan's own compiler
reads the program.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import aiohttp
import aiohttp.client
import httpstan
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from reference import read, smoothed

STEPS, CHAINS, SAMPLES, ERRORS = 20, 4, 1000, 5.0
program, model = sys.argv[1:3]
subprocess.run([Path(httpstan.__file__).parent / "stanc", f"--o={program}.hpp", program], check=True)
if not shutil.which("c++"):
    print("compiled by stanc; no compiler for C++, so not run")
    sys.exit()

# Stan's client allows the compiler one second, which is too short on a busy machine.
patient = subprocess.run
subprocess.run = lambda *args, **more: patient(*args, **{**more, **({"timeout": 600} if "timeout" in more else {})})
# Stan's client waits for at most five minutes.
aiohttp.client.DEFAULT_TIMEOUT = aiohttp.ClientTimeout(total=3600)
import stan

values = read(model)[0]
rng = np.random.default_rng(3)
draw = rng.multivariate_normal
state, seen = draw(values["prior_mean"].ravel(), values["prior_cov"]), []
for _ in range(STEPS):
    seen.append(draw(values["H"] @ state, values["R"]))
    state = draw(values["F"] @ state, values["Q"])
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    built = stan.build(open(program, encoding="utf8").read(), data={"T": STEPS, "y": np.array(seen)}, random_seed=3)
    drawn = built.sample(num_chains=CHAINS, num_samples=SAMPLES)["x"]
means, covariance = smoothed(values, np.array(seen))
spread = np.sqrt(np.diag(covariance)).reshape(means.shape)
# Consecutive samples are not independent, so only a tenth of them counts.
errors = np.abs(drawn.mean(-1) - means) / (spread / np.sqrt(CHAINS * SAMPLES / 10))
widths = drawn.std(-1) / spread
print(
    f"compiled and run, largest distance {errors.max():.2f} standard errors, "
    f"widths {widths.min():.2f} to {widths.max():.2f}"
)
sys.exit(0 if errors.max() <= ERRORS and 0.8 < widths.min() and widths.max() < 1.25 else 1)
