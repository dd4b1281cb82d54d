# Every dependency comes from the system's package manager (./dev installs them).
find_package(Boost 1.74 REQUIRED COMPONENTS graph program_options)
find_package(yaml-cpp REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)

# yaml-cpp 0.7 exports yaml-cpp, 0.8 yaml-cpp::yaml-cpp.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# Sweeps over the processes of a cluster: used where Boost.MPI and an MPI are installed (Debian: libboost-mpi-dev).
# The header first: CMake's own search is not quiet where there is no MPI.
find_path(NOTEG_BOOST_MPI boost/mpi.hpp HINTS ${Boost_INCLUDE_DIRS})
mark_as_advanced(NOTEG_BOOST_MPI)
if(NOTEG_BOOST_MPI)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(NOTEG_BOOST_MPI AND MPI_CXX_FOUND)
  find_package(Boost 1.74 QUIET OPTIONAL_COMPONENTS mpi serialization)
endif()
set(mpi_is_there OFF)
if(NOTEG_BOOST_MPI AND MPI_CXX_FOUND AND TARGET Boost::mpi AND TARGET Boost::serialization)
  set(mpi_is_there ON)
endif()
option(NOTEG_MPI "noteg generate under mpirun" ${mpi_is_there})
