import pytest

R575 = """
Tue Aug 11 09:12:44 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 575.57.08              Driver Version: 575.57.08      CUDA Version: 12.9     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   31C    P0             71W /  700W |       0MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   30C    P0             70W /  700W |   79214MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    1   N/A  N/A          431201      C   VLLM::Worker_TP1                      79204MiB |
+-----------------------------------------------------------------------------------------+
"""

B300 = """
|   {i}  NVIDIA B300 SXM6 AC            On  |   00000000:{i}B:00.0 Off |                    0 |
| N/A   34C    P0            143W / 1100W |       0MiB / 275040MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""


def r580(count: int, first: int = 0) -> str:
    head = """
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.65.06              Driver Version: 580.65.06      CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
"""
    return head.strip("\n") + "".join(B300.replace("{i}", str(i)).rstrip("\n") for i in range(first, first + count))


def test_nvidia_smi_table_of_r575(values):
    assert values(R575) == {
        "driver_version": "575.57.08",
        "driver_cuda_max": "12.9",
        "gpu_model": "H100",
        "gpu_arch": "hopper",
        "gpu_count": 2,
        "gpu_memory_gib": 79.647,
        "gpu_memory_used_gib": 77.357,
        "platform": "cuda",
    }


def test_nvidia_smi_table_of_r580_with_eight_gpus(values):
    assert values(r580(8)) == {
        "driver_version": "580.65.06",
        "driver_cuda_max": "13.0",
        "gpu_model": "B300",
        "gpu_arch": "blackwell_ultra",
        "gpu_count": 8,
        "gpu_memory_gib": 268.594,
        "gpu_memory_used_gib": 0.0,
        "platform": "cuda",
    }


def test_fact_cites_the_line_it_stands_on(facts):
    driver = facts(R575).get("driver_version")
    assert (driver.line, driver.file) == (3, "paste.log")
    assert driver.text.startswith("| NVIDIA-SMI 575.57.08")


def test_table_that_begins_in_the_middle_gives_no_count(value):
    assert value(r580(5, first=3), "gpu_count") is None


def test_newer_header_calls_the_driver_kmd(values):
    text = "| NVIDIA-SMI 591.44                 KMD Version: 591.44        CUDA UMD Version: 13.1     |"
    found = values(text)
    assert (found["driver_version"], found["driver_cuda_max"]) == ("591.44", "13.1")


def test_header_without_cuda_keeps_the_driver(values):
    found = values("| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: ERR!     |")
    assert found["driver_version"] == "580.65.06"
    assert "driver_cuda_max" not in found


def test_two_hosts_with_different_drivers_are_both_kept(facts):
    text = """
[pod/k3-0/nvidia] | NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: 13.0     |
[pod/k3-1/nvidia] | NVIDIA-SMI 575.57.08    Driver Version: 575.57.08    CUDA Version: 12.9     |
"""
    found = facts(text)
    assert {(fact.host, fact.value) for fact in found.all("driver_version")} == {
        ("k3-0", "580.65.06"),
        ("k3-1", "575.57.08"),
    }
    assert found.get("host_count").value == 2


def test_nvidia_smi_list(values):
    text = "\n".join(f"GPU {i}: NVIDIA GB200 (UUID: GPU-0b1c2d3e-0000-1111-2222-33334444555{i})" for i in range(4))
    assert values(text) == {"gpu_model": "GB200", "gpu_arch": "blackwell", "gpu_count": 4, "platform": "cuda"}


def test_gpus_of_collect_env_without_uuid(values):
    text = "GPU models and configuration : \nGPU 0: NVIDIA H200\nGPU 1: NVIDIA H200\nNvidia driver version: 570.124.06"
    found = values(text)
    assert (found["gpu_model"], found["gpu_count"], found["driver_version"]) == ("H200", 2, "570.124.06")


def test_csv_with_header(values):
    text = """
index, name, driver_version, memory.total [MiB], memory.used [MiB], memory.free [MiB], compute_cap
0, NVIDIA B200, 580.82.07, 183359 MiB, 0 MiB, 182642 MiB, 10.0
1, NVIDIA B200, 580.82.07, 183359 MiB, 4711 MiB, 178642 MiB, 10.0
"""
    assert values(text) == {
        "driver_version": "580.82.07",
        "gpu_model": "B200",
        "gpu_arch": "blackwell",
        "gpu_count": 2,
        "gpu_memory_gib": 179.062,
        "gpu_memory_used_gib": 4.601,
        "platform": "cuda",
    }


def test_csv_without_header_takes_the_fields_of_the_command(values):
    text = """
$ nvidia-smi --query-gpu=driver_version,compute_cap --format=csv,noheader
580.65.06, 10.3
580.65.06, 10.3
$ uname -r
6.8.0-45-generic
"""
    assert values(text) == {
        "driver_version": "580.65.06",
        "gpu_arch": "blackwell_ultra",
        "kernel_version": "6.8.0-45-generic",
        "platform": "cuda",
    }


def test_csv_of_one_field(values):
    assert values("driver_version\n575.57.08\n575.57.08")["driver_version"] == "575.57.08"


@pytest.mark.parametrize(
    "text",
    [
        "$ nvidia-smi --query-gpu=driver_version --format=csv,noheader | uniq\n575.57.08",
        "$ nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -u\n575.57.08\n580.65.06",
        "$ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader | sort | uniq\nNVIDIA B300, 275040 MiB",
        "name, driver_version\nNVIDIA B300, 580.65.06",
    ],
)
def test_rows_that_name_no_gpu_give_no_count(value, text):
    assert value(text, "gpu_count") is None


def test_rows_without_a_count_leave_what_the_person_says(value):
    text = "$ nvidia-smi --query-gpu=driver_version --format=csv,noheader | uniq\n575.57.08"
    assert value(text, "gpu_count", prose="8 x B300, all of them are there") == 8


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("index, name\n0, NVIDIA B300\n1, NVIDIA B300\n2, NVIDIA B300", 3),
        ("$ nvidia-smi --query-gpu=uuid,driver_version --format=csv,noheader\nGPU-1a, 580.65.06\nGPU-2b, 580.65.06", 2),
        ("$ nvidia-smi --query-gpu=pci.bus_id,memory.used --format=csv,noheader\n00000000:1B:00.0, 0 MiB", 1),
        ("$ nvidia-smi --query-gpu=count --format=csv,noheader\n8\n8\n8\n8\n8\n8\n8\n8", 8),
    ],
)
def test_rows_that_name_each_gpu_are_counted(value, text, count):
    assert value(text, "gpu_count") == count


def test_csv_of_processes_is_no_list_of_gpus(values):
    text = "pid, process_name, used_gpu_memory [MiB]\n4242, VLLM::Worker_TP0, 180000 MiB"
    assert values(text) == {}


def test_query_in_advice_without_output_states_nothing(values):
    text = (
        "Check: `nvidia-smi --query-gpu=driver_version --format=csv,noheader`\nThe driver must be 580.65.06 or later."
    )
    assert values(text) == {}


def test_details_of_nvidia_smi_q(values):
    text = """
==============NVSMI LOG==============

Timestamp                                              : Tue Aug 11 09:12:44 2026
Driver Version                                         : 575.57.08
CUDA Version                                           : 12.9

Attached GPUs                                          : 8
GPU 00000000:1B:00.0
    Product Name                                       : NVIDIA H200
    FB Memory Usage
        Total                                          : 143771 MiB
        Reserved                                       : 613 MiB
        Used                                           : 12 MiB
        Free                                           : 143146 MiB
"""
    assert values(text) == {
        "driver_version": "575.57.08",
        "driver_cuda_max": "12.9",
        "gpu_count": 8,
        "gpu_model": "H200",
        "gpu_arch": "hopper",
        "gpu_memory_gib": 140.401,
        "gpu_memory_used_gib": 0.012,
        "platform": "cuda",
    }


def test_topology_with_nvlink_between_all(values):
    text = """
\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tNV18\tPIX\tSYS\t0-55\t0\tN/A
GPU1\tNV18\t X \tSYS\tPIX\t0-55\t0\tN/A
NIC0\tPIX\tSYS\t X \tSYS
NIC1\tSYS\tPIX\tSYS\t X

Legend:

  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""
    assert values(text) == {"topology": "nvlink", "gpu_count": 2, "rdma_devices": 2}


def test_topology_over_pcie(value):
    text = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-31\nGPU1\tSYS\t X \t0-31"
    assert value(text, "topology") == "pcie"


@pytest.mark.parametrize(
    ("name", "model", "arch"),
    [
        ("NVIDIA B300 SXM6 AC", "B300", "blackwell_ultra"),
        ("NVIDIA GB300", "GB300", "blackwell_ultra"),
        ("NVIDIA GB200", "GB200", "blackwell"),
        ("NVIDIA H100 80GB HBM3", "H100", "hopper"),
        ("NVIDIA H20", "H20", "hopper"),
        ("NVIDIA GH200 480GB", "GH200", "hopper"),
        ("NVIDIA A100-SXM4-80GB", "A100", "ampere"),
        ("NVIDIA L40S", "L40S", "ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000", "blackwell_sm120"),
        ("NVIDIA GeForce RTX 5090", "RTX 5090", "blackwell_sm120"),
    ],
)
def test_gpu_names(values, name, model, arch):
    found = values(f"GPU 0: {name} (UUID: GPU-00000000-0000-0000-0000-000000000000)")
    assert (found["gpu_model"], found["gpu_arch"]) == (model, arch)


def test_mixed_models_on_one_host(facts):
    text = (
        "Detected different devices in the system: NVIDIA H200, NVIDIA L40S. Please make sure to set "
        "`CUDA_DEVICE_ORDER=PCI_BUS_ID` to avoid unexpected behavior."
    )
    assert {fact.value for fact in facts(text).all("gpu_model")} == {"H200", "L40S"}
    assert {fact.value for fact in facts(text).all("gpu_arch")} == {"hopper", "ada"}


def test_single_listed_gpu_is_no_count(value):
    assert value("GPU 0: NVIDIA B200 (UUID: GPU-9e01)", "gpu_count") is None
