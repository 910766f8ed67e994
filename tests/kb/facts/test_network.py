IBSTAT = """
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.42.1000
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: 10
\t\tLink layer: InfiniBand
"""


def test_ibstat_with_all_ports_up(values):
    assert values(IBSTAT.format(state="Active", physical="LinkUp")) == {"rdma_devices": 2, "nic_state": "up"}


def test_ibstat_with_a_port_down(facts):
    found = facts(IBSTAT.format(state="Down", physical="Polling"))
    assert found.get("nic_state").value == "down"
    assert found.get("nic_state").text.strip() in ("State: Down", "Physical state: Polling")
    assert found.get("rdma_devices").value == 2


def test_ibv_devinfo(values):
    text = """
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.42.1000
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
hca_id:\tmlx5_bond_0
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_DOWN (1)
"""
    assert values(text) == {"rdma_devices": 2, "nic_state": "down"}


def test_ibdev2netdev(values):
    text = "mlx5_0 port 1 ==> ibp24s0 (Up)\nmlx5_1 port 1 ==> ibp64s0 (Up)\nmlx5_2 port 1 ==> ibp79s0 (Up)"
    assert values(text) == {"rdma_devices": 3, "nic_state": "up"}


def test_rdma_link(values):
    text = (
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0\n"
        "link mlx5_1/1 state DOWN physical_state DISABLED netdev ens1f1np1"
    )
    assert values(text) == {"rdma_devices": 2, "nic_state": "down"}


def test_ibv_devices(values):
    text = """
    device          \t   node GUID
    ------          \t----------------
    mlx5_0          \t9c63c00300f2a1b0
    mlx5_1          \t9c63c00300f2a1b4
"""
    assert values(text) == {"rdma_devices": 2}


def test_link_down_in_the_kernel_log(value):
    assert value("[  99.123456] mlx5_core 0000:18:00.0 ibp24s0: Link down", "nic_state") == "down"


def test_port_of_an_advice_is_no_port(values):
    assert values("Check that State: is Active in ibstat") == {}


def test_devices_that_nccl_uses(values):
    text = "node-a:9:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>"
    assert values(text) == {"rdma_devices": 2}
    assert values("node-a:9:9 [0] NCCL INFO NET/IB : No device found.") == {"rdma_devices": 0}
