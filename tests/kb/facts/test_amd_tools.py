def test_amd_smi_table(values):
    text = """
+------------------------------------------------------------------------------+
| AMD-SMI 26.0.0+37d158ab      amdgpu version: 6.14.14  ROCm version: 7.0.0    |
| Platform: Linux Baremetal                                                    |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:05:00.0 ...AMD Instinct MI355X | 0 %      48 °C   0          232/1400 W |
|   0       0       7        SPX/NPS1 | 0 %        N/A           284/294896 MB |
|-------------------------------------+----------------------------------------|
| 0000:15:00.0 ...AMD Instinct MI355X | 0 %      46 °C   0          230/1400 W |
|   1       1       6        SPX/NPS1 | 0 %        N/A          1284/294896 MB |
+-------------------------------------+----------------------------------------+
"""
    assert values(text) == {
        "rocm_version": "7.0.0",
        "platform": "rocm",
        "gpu_model": "MI355X",
        "gpu_arch": "cdna4",
        "gpu_count": 2,
        "gpu_memory_gib": 287.984,
        "gpu_memory_used_gib": 1.254,
    }


def test_rocm_smi_product_names(values):
    text = """
============================ ROCm System Management Interface ============================
====================================== Product Info ======================================
GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM
GPU[0]\t\t: Card Model: \t\t0x74a1
GPU[0]\t\t: GFX Version: \t\tgfx942
GPU[1]\t\t: Card Series: \t\tAMD Instinct MI300X OAM
GPU[1]\t\t: Card Model: \t\t0x74a1
GPU[1]\t\t: GFX Version: \t\tgfx942
==========================================================================================
"""
    assert values(text) == {"platform": "rocm", "gpu_model": "MI300X", "gpu_arch": "cdna3", "gpu_count": 2}


def test_rocm_smi_memory(values):
    text = "GPU[0]\t\t: VRAM Total Memory (B): 309220868096\nGPU[0]\t\t: VRAM Total Used Memory (B): 1073741824"
    assert values(text) == {"gpu_memory_gib": 287.984, "gpu_memory_used_gib": 1.0}


def test_rocminfo_agent(values):
    text = "  Name:                    gfx950\n  Marketing Name:          AMD Instinct MI355X"
    assert values(text) == {"gpu_arch": "cdna4", "gpu_model": "MI355X", "platform": "rocm"}


def test_amd_driver_is_not_taken_for_an_nvidia_one(value):
    assert value("| AMD-SMI 26.0.0   amdgpu version: 6.14.14  ROCm version: 7.0.0    |", "driver_version") is None
