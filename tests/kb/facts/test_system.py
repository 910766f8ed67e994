import pytest

LSMOD = """
$ lsmod
Module                  Size  Used by
nvidia_uvm           2084864  0
nvidia_drm            139264  0
nvidia_modeset       1818624  1 nvidia_drm
nvidia              104165376  85 nvidia_uvm,nvidia_modeset
mlx5_ib               450560  0
ib_uverbs             196608  2 rdma_ucm,mlx5_ib
ib_core               507904  7 rdma_cm,mlx5_ib
mlx5_core            2437120  1 mlx5_ib
xfs                  2256896  1
overlay               212992  4
br_netfilter           32768  0
$ uname -a
Linux gpu-a 6.8.0-45-generic #45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux
"""


def test_whole_lsmod_tells_what_is_loaded_and_what_is_not(values):
    found = values(LSMOD)
    assert {name: v for name, v in found.items() if name.startswith("module.")} == {
        "module.nvidia_uvm": True,
        "module.nvidia_drm": True,
        "module.nvidia_modeset": True,
        "module.nvidia": True,
        "module.mlx5_ib": True,
        "module.ib_uverbs": True,
        "module.ib_core": True,
        "module.mlx5_core": True,
        "module.nvidia_peermem": False,
        "module.nv_peer_mem": False,
        "module.nvidia_fs": False,
        "module.gdrdrv": False,
        "module.ib_umad": False,
        "module.amdgpu": False,
    }
    assert found["kernel_version"] == "6.8.0-45-generic"


def test_cut_lsmod_denies_nothing(values):
    assert values("\n".join(LSMOD.strip().split("\n")[1:4])) == {"module.nvidia_uvm": True, "module.nvidia_drm": True}


def test_grepped_lsmod_with_an_answer(values):
    text = "$ lsmod | grep nvidia_peermem\nnvidia_peermem         16384  0\n$ "
    assert values(text) == {"module.nvidia_peermem": True}


def test_grepped_lsmod_without_an_answer(values):
    text = '$ lsmod | grep -E "nvidia_peermem|ib_umad"\nib_umad                45056  0\n$ date'
    assert values(text) == {"module.ib_umad": True, "module.nvidia_peermem": False}


def test_grepped_lsmod_at_the_end_of_the_paste_is_open(values):
    assert values("$ lsmod | grep nvidia_peermem") == {}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)",
            "driver_version",
            "580.65.06",
        ),
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.57.08  Thu May 29 18:12:32 UTC 2026",
            "driver_version",
            "575.57.08",
        ),
        (
            "[   12.345678] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build",
            "driver_version",
            "575.57.08",
        ),
        (
            "NVRM: API mismatch: client has the version 580.65.06, but this kernel module has the version 575.57.08.",
            "driver_version",
            "575.57.08",
        ),
        (
            "filename:       /lib/modules/6.8.0/updates/dkms/nvidia.ko.zst\nversion:        580.65.06",
            "driver_version",
            "580.65.06",
        ),
        (
            "[1234.567890] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.",
            "xid",
            79,
        ),
        ("Aug 11 12:00:00 gpu-a kernel: NVRM: Xid (PCI:0000:3b:00): 119, pid=7, Timeout after 6s", "xid", 119),
        (
            "[    0.000000] Linux version 5.15.0-122-generic (buildd@lcy02) (gcc 11.4.0)",
            "kernel_version",
            "5.15.0-122-generic",
        ),
        ("Cuda compilation tools, release 13.0, V13.0.88", "cuda_runtime", "13.0"),
        ("CUDA Version 13.0.1", "cuda_runtime", "13.0.1"),
        ("MLNX_OFED_LINUX-24.10-1.1.4.0:", "ofed_version", "MLNX_OFED_LINUX-24.10-1.1.4.0"),
        ("k3 exited with code 139", "exit_code", -11),
        ("0f1e2d3c4b5a  vllm/vllm-openai:kimi-k3  Exited (137) 3 minutes ago", "exit_code", -9),
        ("srun: error: gpu-a: task 0: Exited with exit code 1", "exit_code", None),
    ],
)
def test_one_line(value, text, name, expected):
    assert value(text, name) == expected


def test_xids_of_two_hosts(facts):
    found = facts(
        "Aug 11 12:00:00 gpu-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1\n"
        "Aug 11 12:00:03 gpu-a kernel: NVRM: Xid (PCI:0000:3b:00): 45, pid=1\n"
        "Aug 11 12:00:04 gpu-b kernel: NVRM: Xid (PCI:0000:3b:00): 74, pid=1"
    )
    assert found.get("xid").value == 79
    assert [(fact.host, fact.value) for fact in found.all("xid")] == [("gpu-a", 79), ("gpu-a", 45), ("gpu-b", 74)]


@pytest.mark.parametrize(
    "text",
    [
        "NVML library version: 580.65",
        "container exited with code 0",
        "nvidia_peermem must be loaded on every node",
        "modprobe nvidia_peermem",
        "PyTorch compiled with CUDA 12.4",
        "CUDA Version: 12.9 or later is needed",
    ],
)
def test_sentences_about_the_host_state_nothing(values, text):
    assert values(text) == {}
